import type { StatusModel, StatusReport } from '@tallystick/core';
import { element } from '../dom.ts';
import { statusProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import { stateOf } from './draw.ts';
import { minuteOf } from './times.ts';

/** Draws the providers, and those of their models that were called lately; of the other models only the names. */
export function modelsOf({ providers, models }: StatusReport): HTMLElement {
  const { columns, text } = prose;
  const called = models.filter(({ state }) => state !== 'unknown');
  const idle = models.filter(({ state }) => state === 'unknown');
  return element(
    'div',
    '',
    lightsOf(text.providersTable, columns.provider, providers),
    called.length === 0
      ? element('p', 'help', text.noneCalled)
      : lightsOf(text.modelsTable, columns.model, called),
    ...(idle.length === 0 ? [] : [listOf(formatText(text.idle, idle.length), idle)]),
  );
}

function lightsOf(caption: string, name: string, lights: readonly StatusModel[]): HTMLElement {
  const { columns } = prose;
  return tableOf(
    caption,
    [name, columns.state, columns.since],
    lights.map((light) => [element('span', 'named', light.id), stateOf(light), minuteOf(light.since)]),
  );
}

function listOf(summary: string, models: readonly StatusModel[]): HTMLElement {
  return element(
    'details',
    '',
    element('summary', '', summary),
    element('p', 'help', models.map(({ id }) => id).join(', ')),
  );
}
