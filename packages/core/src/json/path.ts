import { quoteJson } from './quote.ts';

/** A member name or an array index. */
export type PathStep = string | number;

const plainName = /^[A-Za-z_$@][\w$@-]{0,63}$/;
const shownCharacters = 64;

/** `request.hash`, `receipts[3].ts`, `a["odd name"]`; undefined for the document itself. Long names are cut. */
export function formatPath(steps: readonly PathStep[]): string | undefined {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (plainName.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${quoteJson(step.slice(0, shownCharacters).toWellFormed())}]`;
  }
  return text === '' ? undefined : text;
}
