import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'pass' | 'warn' | 'fail' | 'unknown';

export const ICONS: Readonly<Record<Tone, IconName>> = {
  pass: 'done',
  warn: 'fail',
  fail: 'close',
  unknown: 'unknown',
};

/** A state in words, with an icon and a colour that say the same. */
export function State({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <span class="state" data-state={tone}>
      <Icon name={ICONS[tone]} />
      <span>{children}</span>
    </span>
  );
}

/** How endpoints, providers and models can be found (spec/status.md). */
export type Found = 'up' | 'degraded' | 'down' | 'unknown';

const TONES: Readonly<Record<Found, Tone>> = {
  up: 'pass',
  degraded: 'warn',
  down: 'fail',
  unknown: 'unknown',
};

const NAMES: Readonly<Record<Found, string>> = {
  up: 'Up',
  degraded: 'Degraded',
  down: 'Down',
  unknown: 'Unknown',
};

const CODES: Readonly<Record<string, string>> = {
  auth: 'refuses the service’s key',
  bad_answer: 'unusable answers',
  cut: 'answers break off',
  failing: 'fails now and then',
  model_gone: 'model withdrawn',
  not_called: 'not called lately',
  price_outdated: 'its price is too old',
  provider_down: 'a provider is down',
  refused: 'refuses calls',
  rested_by_operator: 'rested by the operator',
  server: 'server errors',
};

/** What a code of the status says, in words. */
export const causeOf = (code: string): string =>
  (Object.hasOwn(CODES, code) ? CODES[code] : undefined) ?? code.replaceAll('_', ' ');

/** A state that was found, with its cause unless it is up. */
export function FoundState({
  of,
}: {
  readonly of: { readonly state: string; readonly code: string };
}): JSX.Element {
  const state = Object.hasOwn(TONES, of.state) ? (of.state as Found) : 'unknown';
  return (
    <State tone={TONES[state]}>{state === 'up' ? NAMES.up : `${NAMES[state]}: ${causeOf(of.code)}`}</State>
  );
}
