SELECT
  `t12`.`key_0` AS `region`,
  CASE WHEN `t12`.`opens` THEN CAST('Inf' AS DOUBLE) ELSE `t12`.`score` END AS `threshold`,
  `t12`.`tp`,
  `t12`.`fp`,
  `t12`.`positives` - `t12`.`tp` AS `fn`,
  `t12`.`negatives` - `t12`.`fp` AS `tn`,
  CASE WHEN `t12`.`opens` THEN CAST(1.0 AS DOUBLE) ELSE `t12`.`rate` END AS `precision`,
  CASE
    WHEN `t12`.`positives` > 0
    THEN TRY_DIVIDE(CAST(`t12`.`tp` AS DOUBLE), NULLIF(`t12`.`positives`, 0))
    ELSE NULL
  END AS `recall`
FROM (
  SELECT
    `t11`.`key_0`,
    `t11`.`score`,
    `t11`.`pos`,
    `t11`.`neg`,
    `t11`.`dropped`,
    `t11`.`one`,
    `t11`.`hits`,
    CASE WHEN `t11`.`copy` = 1 THEN 0 ELSE `t11`.`tp` END AS `tp`,
    CASE WHEN `t11`.`copy` = 1 THEN 0 ELSE `t11`.`fp` END AS `fp`,
    `t11`.`place`,
    `t11`.`next_hits`,
    `t11`.`positives`,
    `t11`.`negatives`,
    `t11`.`first`,
    `t11`.`copy`,
    `t11`.`copy` = 1 AS `opens`,
    (
      (
        `t11`.`positives` + `t11`.`negatives`
      ) > 0
    )
    AND (
      (
        `t11`.`copy` = 1
      ) OR NOT (
        `t11`.`score` IS NULL OR ISNAN(`t11`.`score`)
      )
    ) AS `is_point`,
    CASE
      WHEN NOT (
        `t11`.`score` IS NULL OR ISNAN(`t11`.`score`)
      )
      AND (
        (
          `t11`.`tp` + `t11`.`fp`
        ) > 0
      )
      THEN TRY_DIVIDE(CAST(`t11`.`tp` AS DOUBLE), NULLIF(`t11`.`tp` + `t11`.`fp`, 0))
      ELSE NULL
    END AS `rate`
  FROM (
    SELECT
      `t10`.`key_0`,
      `t10`.`score`,
      `t10`.`pos`,
      `t10`.`neg`,
      `t10`.`dropped`,
      `t10`.`one`,
      `t10`.`hits`,
      `t10`.`tp`,
      `t10`.`fp`,
      `t10`.`place`,
      `t10`.`next_hits`,
      `t10`.`positives`,
      `t10`.`negatives`,
      `t10`.`first`,
      `t4`.`copy`
    FROM (
      SELECT
        `t8`.`key_0`,
        `t8`.`score`,
        `t8`.`pos`,
        `t8`.`neg`,
        `t8`.`dropped`,
        `t8`.`one`,
        `t8`.`hits`,
        `t8`.`tp`,
        `t8`.`fp`,
        `t8`.`place`,
        `t8`.`next_hits`,
        CAST(MAX(CASE WHEN `t8`.`pos` > 0 THEN `t8`.`tp` ELSE 0 END) OVER (
          PARTITION BY `t8`.`key_0`
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS BIGINT) AS `positives`,
        CAST(MAX(CASE WHEN `t8`.`neg` > 0 THEN `t8`.`fp` ELSE 0 END) OVER (
          PARTITION BY `t8`.`key_0`
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS BIGINT) AS `negatives`,
        `t8`.`place` = 1 AS `first`
      FROM (
        SELECT
          `t7`.`key_0`,
          `t7`.`score`,
          `t7`.`pos`,
          `t7`.`neg`,
          `t7`.`dropped`,
          `t7`.`one`,
          `t7`.`hits`,
          CASE
            WHEN `t7`.`pos` IS NOT NULL
            THEN CAST(SUM(`t7`.`pos`) OVER (
              PARTITION BY `t7`.`key_0`
              ORDER BY `t7`.`score` DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS BIGINT)
            ELSE NULL
          END AS `tp`,
          CASE
            WHEN `t7`.`neg` IS NOT NULL
            THEN CAST(SUM(`t7`.`neg`) OVER (
              PARTITION BY `t7`.`key_0`
              ORDER BY `t7`.`score` DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS BIGINT)
            ELSE NULL
          END AS `fp`,
          CASE
            WHEN `t7`.`one` IS NOT NULL
            THEN CAST(SUM(`t7`.`one`) OVER (
              PARTITION BY `t7`.`key_0`
              ORDER BY `t7`.`score` DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS BIGINT)
            ELSE NULL
          END AS `place`,
          LAG(`t7`.`hits`, 1) OVER (PARTITION BY `t7`.`key_0` ORDER BY `t7`.`score` ASC) AS `next_hits`
        FROM (
          SELECT
            `t6`.`key_0`,
            `t6`.`score`,
            `t6`.`pos`,
            `t6`.`neg`,
            `t6`.`dropped`,
            1 AS `one`,
            CASE
              WHEN NOT (
                `t6`.`score` IS NULL OR ISNAN(`t6`.`score`)
              )
              THEN `t6`.`pos` > 0
              ELSE NULL
            END AS `hits`
          FROM (
            SELECT
              `t5`.`key_0`,
              `t5`.`score`,
              COALESCE(CAST(SUM(`t5`.`pos`) AS BIGINT), 0) AS `pos`,
              COALESCE(CAST(SUM(`t5`.`neg`) AS BIGINT), 0) AS `neg`,
              COALESCE(CAST(SUM(`t5`.`dropped`) AS BIGINT), 0) AS `dropped`
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
            ) AS `t5`
            GROUP BY
              1,
              2
          ) AS `t6`
        ) AS `t7`
      ) AS `t8`
    ) AS `t10`
    CROSS JOIN (
      SELECT
        *
      FROM (
        SELECT
          0 AS `copy`
      ) AS `t1`
      UNION ALL
      SELECT
        *
      FROM (
        SELECT
          1 AS `copy`
      ) AS `t2`
    ) AS `t4`
  ) AS `t11`
  WHERE
    (
      (
        `t11`.`copy` = 0
      ) OR `t11`.`first`
    )
    AND (
      (
        (
          `t11`.`positives` + `t11`.`negatives`
        ) > 0
      )
      AND (
        (
          `t11`.`copy` = 1
        ) OR NOT (
          `t11`.`score` IS NULL OR ISNAN(`t11`.`score`)
        )
      )
    )
    AND (
      (
        `t11`.`copy` = 1
      )
      OR `t11`.`first`
      OR (
        `t11`.`pos` > 0
      )
      OR COALESCE(`t11`.`next_hits`, TRUE)
    )
) AS `t12`
ORDER BY
  `t12`.`key_0` ASC,
  CASE WHEN `t12`.`opens` THEN CAST('Inf' AS DOUBLE) ELSE `t12`.`score` END DESC,
  `t12`.`tp` ASC NULLS LAST,
  `t12`.`fp` ASC NULLS LAST
