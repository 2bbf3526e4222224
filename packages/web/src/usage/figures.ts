import { columnPlot } from '../plot/columns.ts';
import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { roundTicks } from '../plot/scale.ts';
import { usageProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import type { Totals, UsageDay } from './documents.ts';
import { brief, count, daysBetween, shortDay, usdc } from './numbers.ts';

/** Most days that one plot shows. */
const DRAWN_DAYS = 60;

type Amount = (day: UsageDay) => number;

const sumOf = (days: readonly UsageDay[], amount: Amount): number =>
  days.reduce((sum, day) => sum + amount(day), 0);

/** Columns for all days, those without a call included. */
function columnsOf(days: readonly UsageDay[], amounts: readonly Amount[]) {
  const all = daysBetween(days[0]?.day ?? '', days.at(-1)?.day ?? '');
  return all.slice(-DRAWN_DAYS).map((day) => {
    const members = days.filter((one) => one.day === day);
    return { name: shortDay(day), values: amounts.map((amount) => sumOf(members, amount)) };
  });
}

const cutNote = (days: readonly UsageDay[]): string =>
  daysBetween(days[0]?.day ?? '', days.at(-1)?.day ?? '').length > DRAWN_DAYS
    ? ` ${formatText(prose.text.lastDays, DRAWN_DAYS)}`
    : '';

/** Draws the tokens of each day. @param days in the order of time; at least one */
export function tokensFigure(days: readonly UsageDay[]): HTMLElement {
  const { text, columns, series } = prose;
  const drawn = columnsOf(days, [(day) => day.prompt_tokens, (day) => day.completion_tokens]);
  return figureOf({
    title: text.tokensTitle,
    note: text.tokensNote + cutNote(days),
    series: [
      { id: 'prompt', name: series.prompt },
      { id: 'completion', name: series.completion },
    ],
    draw: (width) => columnPlot(width, { columns: drawn, format: brief, title: text.tokensAxis }),
    table: tableOf(
      text.tokensTitle,
      [
        columns.day,
        columns.model,
        columns.calls,
        columns.prompt,
        columns.completion,
        columns.cached,
        columns.charged,
      ],
      days
        .toReversed()
        .map((day) => [
          day.day,
          day.model,
          count(day.calls),
          count(day.prompt_tokens),
          count(day.completion_tokens),
          count(day.cached_tokens),
          usdc(day.charged),
        ]),
      [1],
    ),
  });
}

export function savedFigure(days: readonly UsageDay[]): HTMLElement {
  const { text, columns } = prose;
  const drawn = columnsOf(days, [(day) => day.saved_tokens]);
  return figureOf({
    title: text.savedTitle,
    note: text.savedNote + cutNote(days),
    series: [],
    draw: (width) => columnPlot(width, { columns: drawn, format: brief, title: text.tokensAxis }),
    table: tableOf(
      text.savedTitle,
      [columns.day, columns.model, columns.saved, columns.saving, columns.share],
      days
        .toReversed()
        .map((day) => [day.day, day.model, count(day.saved_tokens), usdc(day.saving), usdc(day.share)]),
      [1],
    ),
  });
}

export function routesFigure(days: readonly UsageDay[]): HTMLElement {
  const { text, columns } = prose;
  const models = [...new Set(days.map(({ model }) => model))].map((model) => {
    const members = days.filter((day) => day.model === model);
    return {
      model,
      calls: sumOf(members, ({ calls }) => calls),
      tokens: sumOf(members, ({ prompt_tokens, completion_tokens }) => prompt_tokens + completion_tokens),
    };
  });
  const sorted = models.toSorted((a, b) => b.calls - a.calls);
  return barsFigure({
    title: text.routesTitle,
    note: text.routesNote,
    axis: text.callsAxis,
    bars: sorted.map(({ model, calls }) => ({ name: model, value: calls })),
    table: tableOf(
      text.routesTitle,
      [columns.model, columns.calls, columns.tokens],
      sorted.map(({ model, calls, tokens }) => [model, count(calls), count(tokens)]),
    ),
  });
}

export function methodsFigure({ methods }: Totals): HTMLElement {
  const { text, columns } = prose;
  const sorted = Object.entries(methods).toSorted(([, a], [, b]) => b.tokens - a.tokens);
  return barsFigure({
    title: text.methodsTitle,
    note: text.methodsNote,
    axis: text.tokensAxis,
    bars: sorted.map(([name, { tokens }]) => ({ name, value: tokens })),
    table: tableOf(
      text.methodsTitle,
      [columns.method, columns.calls, columns.tokens],
      sorted.map(([name, { calls, tokens }]) => [name, count(calls), count(tokens)]),
    ),
  });
}

interface Bars {
  readonly title: string;
  readonly note: string;
  readonly axis: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
  readonly table: Node;
}

function barsFigure({ title, note, axis, bars, table }: Bars): HTMLElement {
  return figureOf({
    title,
    note,
    series: [],
    draw: (width) =>
      rowPlot(width, {
        rows: bars.map(({ name, value }) => ({ name, marks: [{ value, low: 0, high: value }] })),
        mark: 'range',
        ticks: roundTicks([0, ...bars.map(({ value }) => value)], width < 500 ? 4 : 6),
        zero: 0,
        format: brief,
        title: axis,
      }),
    table,
  });
}
