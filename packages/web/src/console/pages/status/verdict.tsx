import type { JSX } from 'preact';
import { Icon } from '../../components/icon.tsx';
import { ICONS, type Tone } from '../../components/state.tsx';
import { ageOf } from '../../format/length.ts';
import { forget } from './last-seen.ts';
import type { Reading } from './read.ts';

type Outcome = 'up' | 'degraded' | 'down' | 'idle' | Exclude<Reading['standing'], 'current'>;

interface Words {
  readonly tone: Tone;
  readonly title: string;
  readonly message: string;
}

/** The one sentence that is the page's answer. @param again reads the status again */
export function Verdict({ of, again }: { readonly of: Reading; readonly again: () => void }): JSX.Element {
  const outcome = outcomeOf(of);
  const { tone, title, message } = wordsOf(outcome, of);
  const isSuspicious = outcome === 'rolled_back' || outcome === 'forked';
  return (
    <section class="banner" data-state={tone} aria-label="Verdict">
      <Icon name={ICONS[tone]} />
      <div>
        <h2>{title}</h2>
        <p>
          {message} {of.detail}
        </p>
        {of.refusals.map(({ from, error }) => (
          <p class="fine" key={from}>
            {from === 'site'
              ? 'The site’s own trust bundle is refused.'
              : 'The remembered trust bundle is not used.'}{' '}
            {error.message}
          </p>
        ))}
      </div>
      {isSuspicious && (
        <button
          type="button"
          onClick={() => {
            forget();
            again();
          }}
        >
          Forget the statuses seen
        </button>
      )}
      {!isSuspicious && tone !== 'pass' && outcome !== 'idle' && (
        <button type="button" onClick={again}>
          Read again
        </button>
      )}
      {/* Announced once, and again only when it changes, because it is read anew all the time. */}
      <p class="hidden" role="status">
        {title}
      </p>
    </section>
  );
}

function outcomeOf({ standing, report }: Reading): Outcome {
  if (standing !== 'current') return standing;
  const states = report?.endpoints.map(({ state }) => state) ?? [];
  if (states.includes('down')) return 'down';
  if (states.includes('degraded')) return 'degraded';
  return states.includes('unknown') ? 'idle' : 'up';
}

function wordsOf(outcome: Outcome, { report, before, at }: Reading): Words {
  const endpoints = report?.endpoints ?? [];
  const areOf = (state: string): string => {
    const found = endpoints.filter((one) => one.state === state).length;
    return `${found} of ${endpoints.length} endpoints ${found === 1 ? 'is' : 'are'}`;
  };
  const age = report === null ? '' : ageOf(report.issued_at, at);
  const number = report?.sequence ?? 0;
  const signed = `Signed by ${report?.issuer_did}, number ${number}, ${age}. This page has just checked the signature.`;
  switch (outcome) {
    case 'up':
      return { tone: 'pass', title: `All ${endpoints.length} endpoints are up`, message: signed };
    case 'degraded':
      return {
        tone: 'warn',
        title: `${areOf('degraded')} degraded`,
        message: signed,
      };
    case 'down':
      return {
        tone: 'fail',
        title: `${areOf('down')} down`,
        message: signed,
      };
    case 'idle':
      return {
        tone: 'unknown',
        title: `${areOf('up')} up; nothing is known of the rest`,
        message: signed,
      };
    case 'untrusted':
      return {
        tone: 'warn',
        title: 'Signed, but not trusted',
        message: `Number ${number} is unchanged since it was signed ${age}, but no trust bundle that you use says whose key signed it.`,
      };
    case 'stale':
      return {
        tone: 'warn',
        title: 'Out of date',
        message: `The newest status that the service serves is number ${number}, ${age}. It should have been replaced since, so the current state is unknown.`,
      };
    case 'rolled_back':
      return {
        tone: 'fail',
        title: 'Older than what this browser has seen',
        message: `The service serves number ${number}, but this browser has already seen number ${before?.sequence}. Somebody is passing off an old status as the current one.`,
      };
    case 'forked':
      return {
        tone: 'fail',
        title: 'Two statuses that contradict each other',
        message: `Number ${number} differs from the number ${number} that this browser saw before, although both are signed. The service tells different people different things, or its database was restored from a backup.`,
      };
    case 'invalid':
      return {
        tone: 'fail',
        title: 'Not a valid status',
        message: 'The page shows nothing of it: do not rely on it.',
      };
    case 'unknown':
      return {
        tone: 'unknown',
        title: 'No status could be read',
        message: 'The current state of the service is unknown.',
      };
  }
}
