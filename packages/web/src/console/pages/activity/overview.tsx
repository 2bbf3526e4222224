import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Money } from '../../components/money.tsx';
import { type Series, TimeSeries } from '../../components/time-series.tsx';
import { shortMoney } from '../../format/money.ts';
import { count, duration, percent, shortCount } from '../../format/number.ts';
import { query, setQuery } from '../../router.ts';
import { METRICS, type Metric, type Summary } from './metrics.ts';

const TITLES: Readonly<Record<Metric, string>> = {
  calls: 'Calls',
  cost: 'Cost',
  latency: 'Latency, p95',
  errors: 'Errors',
  saving: 'Saved',
};

/** What a metric is of. The latency is that of a typical bucket: percentiles of parts can’t be added up. */
const titleOf = (metric: Metric, { bucket }: Summary): string =>
  metric === 'latency' ? `${TITLES.latency} of ${A_BUCKET[bucket]}` : TITLES[metric];

const A_BUCKET: Readonly<Record<Summary['bucket'], string>> = {
  minute: 'a minute',
  hour: 'an hour',
  day: 'a day',
};

/** The sums of a range, and a plot of the one that is chosen, compared with the range before. */
export function Overview({ now, before }: { readonly now: Summary; readonly before: Summary }): JSX.Element {
  const metric = METRICS.find((name) => name === query.value.get('plot')) ?? 'calls';
  const series = useMemo(() => seriesOf(metric, now, before), [metric, now, before]);
  const format = FORMATS[metric];
  return (
    <section class="overview" aria-label="Totals and plot">
      <div class="metrics" role="group" aria-label="What is drawn">
        {METRICS.map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={name === metric}
            onClick={() => setQuery({ plot: name === 'calls' ? null : name }, 'replace')}
          >
            <span>{titleOf(name, now)}</span>
            <b>{totalOf(name, now)}</b>
            <Change metric={name} from={before.total[name]} to={now.total[name]} />
          </button>
        ))}
      </div>
      <TimeSeries
        label={`${titleOf(metric, now)} over time: ${format(now.total[metric])} in this range, ${format(before.total[metric])} in the range before`}
        times={now.times}
        series={series}
        format={format}
        whole={format === shortCount}
        pick={(from, to) => setQuery({ from: String(from), to: String(to), range: null })}
      />
    </section>
  );
}

const FORMATS: Readonly<Record<Metric, (value: number) => string>> = {
  calls: shortCount,
  cost: (value) => shortMoney(value.toFixed(9)),
  latency: duration,
  errors: shortCount,
  saving: (value) => shortMoney(value.toFixed(9)),
};

function totalOf(metric: Metric, { total, costUsdc, savingUsdc }: Summary): ComponentChildren {
  switch (metric) {
    case 'cost':
      return <Money of={costUsdc} />;
    case 'saving':
      return <Money of={savingUsdc} />;
    case 'latency':
      return total.calls === 0 ? '–' : duration(total.latency);
    case 'errors':
      return (
        <>
          {count(total.errors)} <small>{total.calls === 0 ? '' : percent(total.errors / total.calls)}</small>
        </>
      );
    case 'calls':
      return count(total.calls);
  }
}

/** By how much a total differs from that of the range before. */
function Change({
  metric,
  from,
  to,
}: {
  readonly metric: Metric;
  readonly from: number;
  readonly to: number;
}): JSX.Element {
  if (from === to) return <em>as before</em>;
  if (from === 0) return <em>none before</em>;
  const share = (to - from) / from;
  const worse = ['latency', 'errors'].includes(metric) && share > 0;
  return (
    <em data-worse={worse}>
      {share < 0 ? '−' : '+'}
      {percent(Math.abs(share))}
    </em>
  );
}

function seriesOf(metric: Metric, now: Summary, before: Summary): Series[] {
  if (metric === 'latency') {
    return [
      { label: 'p95', values: now.p95, tone: 'accent', form: 'line' },
      { label: 'p50', values: now.p50, tone: 'pass', form: 'line' },
      { label: 'p95, range before', values: before.p95, tone: 'soft', form: 'dashes' },
    ];
  }
  const tone = metric === 'errors' ? 'fail' : metric === 'saving' ? 'pass' : 'accent';
  return [
    { label: TITLES[metric], values: now[metric], tone, form: 'bars' },
    { label: 'Range before', values: before[metric], tone: 'soft', form: 'dashes' },
  ];
}
