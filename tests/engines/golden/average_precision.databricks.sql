SELECT
  `t7`.`key_0` AS `region`,
  `t7`.`positives` + `t7`.`negatives` AS `n`,
  `t7`.`positives` AS `n_pos`,
  CASE WHEN `t7`.`positives` > 0 THEN `t7`.`area` ELSE NULL END AS `average_precision`,
  CASE
    WHEN (
      `t7`.`positives` + `t7`.`negatives`
    ) = 0
    THEN 'empty'
    WHEN `t7`.`positives` = 0
    THEN 'no_positives'
    WHEN `t7`.`negatives` = 0
    THEN 'no_negatives'
    ELSE 'ok'
  END AS `status`
FROM (
  SELECT
    `t6`.`key_0`,
    COALESCE(MAX(`t6`.`positives`), 0) AS `positives`,
    COALESCE(MAX(`t6`.`negatives`), 0) AS `negatives`,
    COALESCE(CAST(SUM(`t6`.`dropped`) AS BIGINT), 0) AS `n_dropped`,
    CASE
      WHEN (
        COALESCE(
          SUM(
            CAST(FLOOR(`t6`.`area` * CAST(1099511627776.0 AS DOUBLE)) AS BIGINT) * CAST(9.094947017729282e-13 AS DOUBLE)
          ),
          0
        ) + COALESCE(
          SUM(
            `t6`.`area` - (
              CAST(FLOOR(`t6`.`area` * CAST(1099511627776.0 AS DOUBLE)) AS BIGINT) * CAST(9.094947017729282e-13 AS DOUBLE)
            )
          ),
          0
        )
      ) IS NULL
      OR ISNAN(
        COALESCE(
          SUM(
            CAST(FLOOR(`t6`.`area` * CAST(1099511627776.0 AS DOUBLE)) AS BIGINT) * CAST(9.094947017729282e-13 AS DOUBLE)
          ),
          0
        ) + COALESCE(
          SUM(
            `t6`.`area` - (
              CAST(FLOOR(`t6`.`area` * CAST(1099511627776.0 AS DOUBLE)) AS BIGINT) * CAST(9.094947017729282e-13 AS DOUBLE)
            )
          ),
          0
        )
      )
      THEN NULL
      ELSE LEAST(
        COALESCE(
          SUM(
            CAST(FLOOR(`t6`.`area` * CAST(1099511627776.0 AS DOUBLE)) AS BIGINT) * CAST(9.094947017729282e-13 AS DOUBLE)
          ),
          0
        ) + COALESCE(
          SUM(
            `t6`.`area` - (
              CAST(FLOOR(`t6`.`area` * CAST(1099511627776.0 AS DOUBLE)) AS BIGINT) * CAST(9.094947017729282e-13 AS DOUBLE)
            )
          ),
          0
        ),
        CAST(1.0 AS DOUBLE)
      )
    END AS `area`
  FROM (
    SELECT
      `t5`.`key_0`,
      `t5`.`score`,
      `t5`.`pos`,
      `t5`.`neg`,
      `t5`.`dropped`,
      `t5`.`tp`,
      `t5`.`fp`,
      `t5`.`positives`,
      `t5`.`negatives`,
      CASE
        WHEN (
          `t5`.`pos` > 0
        ) AND NOT (
          `t5`.`score` IS NULL OR ISNAN(`t5`.`score`)
        )
        THEN TRY_DIVIDE(CAST(`t5`.`pos` AS DOUBLE), NULLIF(`t5`.`positives`, 0)) * TRY_DIVIDE(CAST(`t5`.`tp` AS DOUBLE), NULLIF(`t5`.`tp` + `t5`.`fp`, 0))
        ELSE CAST(0.0 AS DOUBLE)
      END AS `area`
    FROM (
      SELECT
        `t4`.`key_0`,
        `t4`.`score`,
        `t4`.`pos`,
        `t4`.`neg`,
        `t4`.`dropped`,
        `t4`.`tp`,
        `t4`.`fp`,
        CAST(MAX(CASE WHEN `t4`.`pos` > 0 THEN `t4`.`tp` ELSE 0 END) OVER (
          PARTITION BY `t4`.`key_0`
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS BIGINT) AS `positives`,
        CAST(MAX(CASE WHEN `t4`.`neg` > 0 THEN `t4`.`fp` ELSE 0 END) OVER (
          PARTITION BY `t4`.`key_0`
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS BIGINT) AS `negatives`
      FROM (
        SELECT
          `t3`.`key_0`,
          `t3`.`score`,
          `t3`.`pos`,
          `t3`.`neg`,
          `t3`.`dropped`,
          CASE
            WHEN `t3`.`pos` IS NOT NULL
            THEN CAST(SUM(`t3`.`pos`) OVER (
              PARTITION BY `t3`.`key_0`
              ORDER BY `t3`.`score` DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS BIGINT)
            ELSE NULL
          END AS `tp`,
          CASE
            WHEN `t3`.`neg` IS NOT NULL
            THEN CAST(SUM(`t3`.`neg`) OVER (
              PARTITION BY `t3`.`key_0`
              ORDER BY `t3`.`score` DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS BIGINT)
            ELSE NULL
          END AS `fp`
        FROM (
          SELECT
            *
          FROM (
            SELECT
              `t1`.`key_0`,
              `t1`.`score`,
              COALESCE(CAST(SUM(`t1`.`pos`) AS BIGINT), 0) AS `pos`,
              COALESCE(CAST(SUM(`t1`.`neg`) AS BIGINT), 0) AS `neg`,
              COALESCE(CAST(SUM(`t1`.`dropped`) AS BIGINT), 0) AS `dropped`
            FROM (
              SELECT
                `t0`.`region` AS `key_0`,
                CASE
                  WHEN CASE WHEN ISNAN(`t0`.`score`) THEN NULL ELSE `t0`.`score` END <> 0
                  THEN CASE WHEN ISNAN(`t0`.`score`) THEN NULL ELSE `t0`.`score` END
                  ELSE ABS(CASE WHEN ISNAN(`t0`.`score`) THEN NULL ELSE `t0`.`score` END)
                END AS `score`,
                CASE WHEN `t0`.`late` THEN 1 ELSE 0 END AS `pos`,
                CASE WHEN `t0`.`late` THEN 0 ELSE 1 END AS `neg`,
                0 AS `dropped`
              FROM `memory`.`main`.`flights` AS `t0`
            ) AS `t1`
            GROUP BY
              1,
              2
          ) AS `t2`
        ) AS `t3`
      ) AS `t4`
    ) AS `t5`
  ) AS `t6`
  GROUP BY
    1
) AS `t7`
ORDER BY
  `t7`.`key_0` ASC
