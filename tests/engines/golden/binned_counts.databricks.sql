SELECT
  `t3`.`key_0` AS `region`,
  `t3`.`score` AS `threshold`,
  CASE
    WHEN NOT (
      `t3`.`score` IS NULL OR ISNAN(`t3`.`score`)
    )
    THEN CASE
      WHEN `t3`.`score` >= 0.75
      THEN CAST('Inf' AS DOUBLE)
      WHEN `t3`.`score` >= 0.5
      THEN CAST(0.75 AS DOUBLE)
      WHEN `t3`.`score` >= 0.25
      THEN CAST(0.5 AS DOUBLE)
      ELSE CAST(0.25 AS DOUBLE)
    END
    ELSE NULL
  END AS `below`,
  `t3`.`pos`,
  `t3`.`neg`
FROM (
  SELECT
    `t2`.`key_0`,
    `t2`.`score`,
    COALESCE(CAST(SUM(`t2`.`pos`) AS BIGINT), 0) AS `pos`,
    COALESCE(CAST(SUM(`t2`.`neg`) AS BIGINT), 0) AS `neg`,
    COALESCE(CAST(SUM(`t2`.`dropped`) AS BIGINT), 0) AS `dropped`
  FROM (
    SELECT
      `t1`.`key_0`,
      CASE
        WHEN `t1`.`score` >= 0.75
        THEN CAST(0.75 AS DOUBLE)
        WHEN `t1`.`score` >= 0.25
        THEN CASE WHEN `t1`.`score` >= 0.5 THEN CAST(0.5 AS DOUBLE) ELSE CAST(0.25 AS DOUBLE) END
        WHEN `t1`.`score` >= 0.0
        THEN CAST(0.0 AS DOUBLE)
        ELSE CAST(NULL AS DOUBLE)
      END AS `score`,
      `t1`.`pos`,
      `t1`.`neg`,
      `t1`.`dropped`
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
  ) AS `t2`
  GROUP BY
    1,
    2
) AS `t3`
WHERE
  (
    `t3`.`pos` > 0
  ) OR (
    `t3`.`neg` > 0
  )
ORDER BY
  `t3`.`key_0` ASC,
  `t3`.`score` DESC
