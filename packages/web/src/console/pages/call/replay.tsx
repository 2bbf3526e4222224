import { TallyError } from '@tallystick/core';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { useLoad } from '../../load.ts';
import type { Routing } from './documents.ts';

/** Makes the recorded choice again, by the router's own code in this page, and shows where other wishes would have led. */
export function Replay({ routing }: { readonly routing: Routing }): JSX.Element {
  const [wanted, setWanted] = useState(false);
  if (!wanted) {
    return (
      <p class="replay">
        <button type="button" onClick={() => setWanted(true)}>
          <Icon name="replay" /> Make the choice again
        </button>
        <span class="fine">The router’s code runs in this page on what was recorded. Nothing is sent.</span>
      </p>
    );
  }
  return <Replayed routing={routing} />;
}

function Replayed({ routing }: { readonly routing: Routing }): JSX.Element {
  const router = useLoad('router', () => import('router-replay'));
  if (router.value === null)
    return (
      <p class="replay fine" role="status">
        Loading the router…
      </p>
    );
  return <Result routing={routing} redecide={router.value.redecide} />;
}

type Redecide = typeof import('router-replay').redecide;

function Result({
  routing,
  redecide,
}: {
  readonly routing: Routing;
  readonly redecide: Redecide;
}): JSX.Element {
  const { cost_quality: recorded, requested } = routing.inputs;
  const [wish, setWish] = useState(recorded);
  const again = attempt(() => redecide(routing));
  if (again instanceof TallyError) {
    return (
      <p class="replay" role="status">
        This page can’t make the choice again. {again.message}
      </p>
    );
  }
  return (
    <div class="replayed">
      <p class="answer" role="status" data-state={again.same ? 'pass' : 'fail'}>
        <Icon name={again.same ? 'done' : 'close'} />
        {again.same
          ? `Made again from what was recorded, the choice is the same: ${again.outcome.model}.`
          : `Made again from what was recorded, the choice differs (${again.differences.join(', ')}): ${again.outcome.model}. The record was changed, or made by another version.`}
      </p>
      {requested === 'auto' && (
        <>
          <label for="wish">
            What if the call had asked for <b>{wish}</b>
            {wish === recorded ? ', as it did' : ''}? <small>0 is cheap, 10 is good.</small>
          </label>
          <input
            id="wish"
            type="range"
            min={0}
            max={10}
            step={1}
            value={wish}
            onInput={({ currentTarget }) => setWish(Number(currentTarget.value))}
          />
          <output for="wish">{sentenceOf(routing, redecide, wish)}</output>
        </>
      )}
    </div>
  );
}

/** Where the same request would have gone with another `cost_quality`. */
function sentenceOf(routing: Routing, redecide: Redecide, wish: number): string {
  const inputs = { ...routing.inputs, cost_quality: wish };
  const { model, scores } = redecide({ ...routing, inputs }).outcome;
  if (model === routing.outcome.model) return `It would have gone to ${model}, as it did.`;
  const costOf = (name: string): number =>
    Number(scores.find((score) => score.model === name)?.expected_cost ?? Number.NaN);
  const factor = costOf(model) / costOf(routing.outcome.model);
  const cost = Number.isFinite(factor) ? `, at ${factor.toFixed(2)} times the expected cost` : '';
  return `It would have gone to ${model}${cost}.`;
}

function attempt<T>(act: () => T): T | TallyError {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) return error;
    throw error;
  }
}
