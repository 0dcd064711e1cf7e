-- Every percentile of summary.json from requests.parquet, in DuckDB, to the last
-- digit:  cd RUN && duckdb < metrics.sql
-- Ranks are nearest ranks in whole numbers; docs/metrics.md defines the rest.

-- One row a request: its last attempt, with the moments of its first.
create temp table request as
select *,
       case when output_usage is null then output_counted
            when reasoning_usage > 0 and reasoning_usage <= output_usage
                 and not coalesce(list_contains(chunk_kind, 2), false) then output_usage - reasoning_usage
            else output_usage end as shown,
       outcome not in ('ok', 'cut', 'cancelled') as is_over
from (select *,
             first_value(intended) over first_first as due,
             first_value(write_start) over first_first as first_write,
             first_value(held) over first_first as first_held,
             first_value(conn_reused) over first_first as first_reused,
             first_value(conn_start) over first_first as first_conn_start,
             first_value(conn_ready) over first_first as first_conn_ready,
             row_number() over (partition by request_id order by attempt desc) as from_last
      from 'requests.parquet'
      window first_first as (partition by request_id order by attempt))
where from_last = 1;

-- Arrivals: the content chunks of one choice with one stamp.
create temp table arrival as
select request_id, choice, stamp, sum(tokens) as tokens, bool_or(tokens is null) as unknown
from (select request_id, unnest(chunk_at) as stamp, unnest(chunk_choice) as choice,
             unnest(coalesce(chunk_tokens, list_transform(chunk_at, lambda x: null::integer))) as tokens
      from request where outcome = 'ok')
group by all;

create temp table gap as
select *, count(*) filter (tokens > 0) over (partition by request_id, choice order by stamp
                                             rows between unbounded preceding and 1 preceding) as step
from (select *, stamp - lag(stamp) over (partition by request_id, choice order by stamp) as ns from arrival)
where ns is not null;

-- A gap before an arrival without a token of its own belongs to the next that has one.
create temp table itl as
select request_id, v from (
    select request_id, tokens, unknown,
           sum(ns) over (partition by request_id, choice, step)::double / tokens::double / 1e6 as v from gap)
where tokens > 0 and not unknown;

create temp table silence as
select request_id, max(ns) as longest, count(*)::hugeint as n, sum(ns)::hugeint as s, sum(ns::hugeint * ns::hugeint) as ss
from gap group by request_id;

create temp table value as
with good as (select * from request left join silence using (request_id) where outcome = 'ok'),
     pace as (select (last_token - first_token)::double / (shown - 1)::double as ns
              from good where last_token > first_token and shown >= 2)
      select 'ttft' as metric, (first_token - due) / 1e6 as v from good
union all select 'ttft_send', (first_token - sent) / 1e6 from good
union all select 'ttft_answer', (first_answer - due) / 1e6 from good
union all select 'ttfb', (first_byte - sent) / 1e6 from good
union all select 'e2e', (last_token - due) / 1e6 from good
union all select 'e2e_send', (last_token - sent) / 1e6 from good
union all select 'tpot', ns / 1e6 from pace
union all select 'tokens_per_s_user', 1e9 / ns from pace
union all select 'stall_max', longest / 1e6 from good
union all select 'jitter', sqrt((n * ss - s * s)::double / (n * (n - 1))::double) / 1e6 from good where n >= 2
union all select 'itl', v from itl
union all select 'icl', ns / 1e6 from gap
union all select 'input_tokens', coalesce(prompt_usage, prompt_counted)::double from good
union all select 'output_tokens', coalesce(output_usage, output_counted)::double from good
union all select 'usage_difference', (output_usage - output_counted)::double from good
union all select 'prompt_usage_difference', (prompt_usage - prompt_counted)::double from good
union all select 'schedule_lag', (first_write - due) / 1e6 from request
union all select 'client_lag', greatest(0, first_write - due - coalesce(first_held, 0)
                 - case when first_reused or first_conn_start is null or first_conn_ready is null then 0
                        else greatest(0, first_conn_ready - greatest(first_conn_start, due)) end) / 1e6
          from request where first_write is not null
union all select 'held', first_held / 1e6 from request
union all select 'connect', (conn_ready - conn_start) / 1e6 from request where not conn_reused;

-- The _adj forms: each failure is infinite, for pooled gaps as many times as a
-- success that has gaps has of them.
create temp table infinite as
with over as (select count(*) as n from request where is_over),
     pooled as (select 'itl' as metric, count(*) as gaps, count(distinct request_id) as requests from itl
                union all select 'icl', count(*), count(distinct request_id) from gap)
select metric, case when requests > 0 then ceil(over.n::double * gaps::double / requests::double)::bigint else over.n end as n from pooled, over
union all
select unnest(['ttft', 'ttft_send', 'ttft_answer', 'ttfb', 'e2e', 'e2e_send', 'tpot', 'stall_max', 'jitter']), over.n from over;

create temp table series as
select metric, list_sort(list(v)) as vs, len(vs) as n, n as total from value where v is not null group by metric
union all
select infinite.metric || '_adj', vs, coalesce(len(vs), 0), coalesce(len(vs), 0) + infinite.n
from infinite left join (select metric, list_sort(list(v)) as vs from value where v is not null group by metric) using (metric);

create temp macro nearest(vs, n, total, thousandths) as
    case when total = 0 then null
         when greatest(1, (total * thousandths + 999) // 1000) > n then 'inf'::double
         else vs[greatest(1, (total * thousandths + 999) // 1000)] end;

select metric, total as count, nearest(vs, n, total, 500) as p50, nearest(vs, n, total, 900) as p90,
       nearest(vs, n, total, 950) as p95, nearest(vs, n, total, 990) as p99,
       nearest(vs, n, total, 999) as p999, nearest(vs, n, total, 1000) as max
from series where total > 0 order by metric;
