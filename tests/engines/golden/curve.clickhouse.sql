SELECT
  "t12"."key_0" AS "region",
  CASE WHEN "t12"."opens" THEN inf ELSE "t12"."score" END AS "threshold",
  "t12"."tp" AS "tp",
  "t12"."fp" AS "fp",
  "t12"."positives" - "t12"."tp" AS "fn",
  "t12"."negatives" - "t12"."fp" AS "tn",
  CASE WHEN "t12"."opens" THEN CAST(1.0 AS Nullable(Float64)) ELSE "t12"."rate" END AS "precision",
  CASE
    WHEN "t12"."positives" > 0
    THEN CAST("t12"."tp" AS Nullable(Float64)) / nullIf("t12"."positives", 0)
    ELSE NULL
  END AS "recall"
FROM (
  SELECT
    "t11"."key_0" AS "key_0",
    "t11"."score" AS "score",
    "t11"."pos" AS "pos",
    "t11"."neg" AS "neg",
    "t11"."dropped" AS "dropped",
    "t11"."one" AS "one",
    "t11"."hits" AS "hits",
    CASE WHEN "t11"."copy" = 1 THEN 0 ELSE "t11"."tp" END AS "tp",
    CASE WHEN "t11"."copy" = 1 THEN 0 ELSE "t11"."fp" END AS "fp",
    "t11"."place" AS "place",
    "t11"."next_hits" AS "next_hits",
    "t11"."positives" AS "positives",
    "t11"."negatives" AS "negatives",
    "t11"."first" AS "first",
    "t11"."copy" AS "copy",
    "t11"."copy" = 1 AS "opens",
    (
      (
        "t11"."positives" + "t11"."negatives"
      ) > 0
    )
    AND (
      (
        "t11"."copy" = 1
      ) OR NOT (
        isNull("t11"."score")
      )
    ) AS "is_point",
    CASE
      WHEN NOT (
        isNull("t11"."score")
      ) AND (
        (
          "t11"."tp" + "t11"."fp"
        ) > 0
      )
      THEN CAST("t11"."tp" AS Nullable(Float64)) / nullIf("t11"."tp" + "t11"."fp", 0)
      ELSE NULL
    END AS "rate"
  FROM (
    SELECT
      "t10"."key_0" AS "key_0",
      "t10"."score" AS "score",
      "t10"."pos" AS "pos",
      "t10"."neg" AS "neg",
      "t10"."dropped" AS "dropped",
      "t10"."one" AS "one",
      "t10"."hits" AS "hits",
      "t10"."tp" AS "tp",
      "t10"."fp" AS "fp",
      "t10"."place" AS "place",
      "t10"."next_hits" AS "next_hits",
      "t10"."positives" AS "positives",
      "t10"."negatives" AS "negatives",
      "t10"."first" AS "first",
      "t4"."copy" AS "copy"
    FROM (
      SELECT
        "t8"."key_0" AS "key_0",
        "t8"."score" AS "score",
        "t8"."pos" AS "pos",
        "t8"."neg" AS "neg",
        "t8"."dropped" AS "dropped",
        "t8"."one" AS "one",
        "t8"."hits" AS "hits",
        "t8"."tp" AS "tp",
        "t8"."fp" AS "fp",
        "t8"."place" AS "place",
        "t8"."next_hits" AS "next_hits",
        CAST(MAX(CASE WHEN "t8"."pos" > 0 THEN "t8"."tp" ELSE 0 END) OVER (
          PARTITION BY "t8"."key_0"
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS Nullable(Int64)) AS "positives",
        CAST(MAX(CASE WHEN "t8"."neg" > 0 THEN "t8"."fp" ELSE 0 END) OVER (
          PARTITION BY "t8"."key_0"
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS Nullable(Int64)) AS "negatives",
        "t8"."place" = 1 AS "first"
      FROM (
        SELECT
          "t7"."key_0" AS "key_0",
          "t7"."score" AS "score",
          "t7"."pos" AS "pos",
          "t7"."neg" AS "neg",
          "t7"."dropped" AS "dropped",
          "t7"."one" AS "one",
          "t7"."hits" AS "hits",
          CASE
            WHEN isNotNull("t7"."pos")
            THEN CAST(SUM("t7"."pos") OVER (
              PARTITION BY "t7"."key_0"
              ORDER BY "t7"."score" DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS Nullable(Int64))
            ELSE NULL
          END AS "tp",
          CASE
            WHEN isNotNull("t7"."neg")
            THEN CAST(SUM("t7"."neg") OVER (
              PARTITION BY "t7"."key_0"
              ORDER BY "t7"."score" DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS Nullable(Int64))
            ELSE NULL
          END AS "fp",
          CASE
            WHEN isNotNull("t7"."one")
            THEN CAST(SUM("t7"."one") OVER (
              PARTITION BY "t7"."key_0"
              ORDER BY "t7"."score" DESC
              ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS Nullable(Int64))
            ELSE NULL
          END AS "place",
          lagInFrame("t7"."hits", 1) OVER (
            PARTITION BY "t7"."key_0"
            ORDER BY "t7"."score" ASC NULLS FIRST
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
          ) AS "next_hits"
        FROM (
          SELECT
            "t6"."key_0" AS "key_0",
            "t6"."score" AS "score",
            "t6"."pos" AS "pos",
            "t6"."neg" AS "neg",
            "t6"."dropped" AS "dropped",
            1 AS "one",
            CASE WHEN NOT (
              isNull("t6"."score")
            ) THEN "t6"."pos" > 0 ELSE NULL END AS "hits"
          FROM (
            SELECT
              "t5"."key_0" AS "key_0",
              "t5"."score" AS "score",
              COALESCE(CAST(SUM("t5"."pos") AS Nullable(Int64)), 0) AS "pos",
              COALESCE(CAST(SUM("t5"."neg") AS Nullable(Int64)), 0) AS "neg",
              COALESCE(CAST(SUM("t5"."dropped") AS Nullable(Int64)), 0) AS "dropped"
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
            ) AS "t5"
            GROUP BY
              "t5"."key_0",
              "t5"."score"
          ) AS "t6"
        ) AS "t7"
      ) AS "t8"
    ) AS "t10"
    CROSS JOIN (
      SELECT
        *
      FROM (
        SELECT
          0 AS "copy"
      ) AS "t1"
      UNION ALL
      SELECT
        *
      FROM (
        SELECT
          1 AS "copy"
      ) AS "t2"
    ) AS "t4"
  ) AS "t11"
  WHERE
    (
      (
        "t11"."copy" = 0
      ) OR "t11"."first"
    )
    AND (
      (
        (
          "t11"."positives" + "t11"."negatives"
        ) > 0
      )
      AND (
        (
          "t11"."copy" = 1
        ) OR NOT (
          isNull("t11"."score")
        )
      )
    )
    AND (
      (
        "t11"."copy" = 1
      )
      OR "t11"."first"
      OR (
        "t11"."pos" > 0
      )
      OR COALESCE("t11"."next_hits", TRUE)
    )
) AS "t12"
ORDER BY
  "t12"."key_0" ASC NULLS FIRST,
  CASE WHEN "t12"."opens" THEN inf ELSE "t12"."score" END DESC,
  "t12"."tp" ASC,
  "t12"."fp" ASC
