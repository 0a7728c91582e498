SELECT
  "t3"."key_0" AS "region",
  "t3"."score" AS "threshold",
  CASE
    WHEN NOT (
      isNull("t3"."score")
    )
    THEN CASE
      WHEN "t3"."score" >= 0.75
      THEN inf
      WHEN "t3"."score" >= 0.5
      THEN CAST(0.75 AS Nullable(Float64))
      WHEN "t3"."score" >= 0.25
      THEN CAST(0.5 AS Nullable(Float64))
      ELSE CAST(0.25 AS Nullable(Float64))
    END
    ELSE NULL
  END AS "below",
  "t3"."pos" AS "pos",
  "t3"."neg" AS "neg"
FROM (
  SELECT
    "t2"."key_0" AS "key_0",
    "t2"."score" AS "score",
    COALESCE(CAST(SUM("t2"."pos") AS Nullable(Int64)), 0) AS "pos",
    COALESCE(CAST(SUM("t2"."neg") AS Nullable(Int64)), 0) AS "neg",
    COALESCE(CAST(SUM("t2"."dropped") AS Nullable(Int64)), 0) AS "dropped"
  FROM (
    SELECT
      "t1"."key_0" AS "key_0",
      CASE
        WHEN "t1"."score" >= 0.75
        THEN CAST(0.75 AS Nullable(Float64))
        WHEN "t1"."score" >= 0.25
        THEN CASE
          WHEN "t1"."score" >= 0.5
          THEN CAST(0.5 AS Nullable(Float64))
          ELSE CAST(0.25 AS Nullable(Float64))
        END
        WHEN "t1"."score" >= 0.0
        THEN CAST(0.0 AS Nullable(Float64))
        ELSE CAST(NULL AS Nullable(Float64))
      END AS "score",
      "t1"."pos" AS "pos",
      "t1"."neg" AS "neg",
      "t1"."dropped" AS "dropped"
    FROM (
      SELECT
        "t0"."region" AS "key_0",
        CASE
          WHEN CASE WHEN isNaN("t0"."score") THEN NULL ELSE "t0"."score" END <> 0
          THEN CASE WHEN isNaN("t0"."score") THEN NULL ELSE "t0"."score" END
          ELSE ABS(CASE WHEN isNaN("t0"."score") THEN NULL ELSE "t0"."score" END)
        END AS "score",
        CASE WHEN "t0"."late" THEN 1 ELSE 0 END AS "pos",
        CASE WHEN "t0"."late" THEN 0 ELSE 1 END AS "neg",
        0 AS "dropped"
      FROM "memory"."main"."flights" AS "t0"
    ) AS "t1"
  ) AS "t2"
  GROUP BY
    "t2"."key_0",
    "t2"."score"
) AS "t3"
WHERE
  (
    "t3"."pos" > 0
  ) OR (
    "t3"."neg" > 0
  )
ORDER BY
  "t3"."key_0" ASC NULLS FIRST,
  "t3"."score" DESC
