import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Metric, Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestService, type TestService } from './service.ts';

const textOf = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** The rows of the table that follows a heading, each as its cells. */
function tableAfter(page: string, heading: string): string[][] {
  const [, after = ''] = textOf(page).split(`\n${heading}\n`);
  const lines = after.split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const rows = lines.slice(first);
  return rows
    .slice(
      2,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((row) =>
      row
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
}

interface Described {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** What a registry counts, but for what prom-client says of Node and of the process. */
function metricsOf(registry: Registry): Described[] {
  return registry
    .getMetricsAsArray()
    .map(({ name }) => registry.getSingleMetric(name) as Metric & Described)
    .filter(({ name }) => !/^(?:nodejs|process)_/.test(name));
}

it('docs/observability.md lists every metric, with what it counts and its labels', () => {
  const listed = tableAfter('docs/observability.md', '## Metrics');
  const there = metricsOf(service.services.metrics.registry).map(({ name, type, labelNames, help }) => [
    `\`${name}\``,
    type,
    labelNames.length === 0 ? '–' : labelNames.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  expect(listed).toEqual(there.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)));
});

it('no metric has a label for something that callers make up', () => {
  const labels = metricsOf(service.services.metrics.registry).flatMap(({ labelNames }) => labelNames);
  expect([...new Set(labels)].toSorted()).toEqual(
    // Routes, methods, codes, queues, checks and states are the program's own; providers, models and arms are the operator's.
    [
      'arm',
      'check',
      'changed',
      'code',
      'kind',
      'method',
      'model',
      'outcome',
      'part',
      'provider',
      'queue',
      'route',
      'state',
      'status',
      'tier',
      'why',
    ].toSorted(),
  );
});

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}

describe('the alarms', () => {
  const rules = (parse(textOf('deploy/prometheus/rules.yml')) as Rules).groups.flatMap(
    (group) => group.rules,
  );

  it('are in docs/runbook.md as they are in Prometheus', () => {
    const plain = (cell: string): string => cell.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    expect(tableAfter('docs/runbook.md', '## What to alarm on').map((row) => row.map(plain))).toEqual(
      rules.map(({ alert, annotations }) => [`\`${alert}\``, annotations.summary, annotations.description]),
    );
  });

  it('each page somebody, or open a ticket', () => {
    expect(
      rules.map(({ labels }) => labels.severity).filter((one) => one !== 'page' && one !== 'ticket'),
    ).toEqual([]);
  });

  it('each have a case: silent at first, then alone', () => {
    interface Case {
      readonly promql_expr_test: readonly { readonly exp_samples: readonly { readonly labels: string }[] }[];
    }
    const { tests } = parse(textOf('deploy/prometheus/rules.test.yml')) as { tests: readonly Case[] };
    const fired = tests.map(({ promql_expr_test: looks }) =>
      looks.map(({ exp_samples }) => exp_samples.map(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1])),
    );
    const [healthy, ...cases] = fired;
    expect(healthy?.flat()).toEqual([]);
    expect(cases.filter(([before, after]) => before?.length !== 0 || after?.length !== 1)).toEqual([]);
    expect([...new Set(cases.flat(2))]).toEqual(rules.map(({ alert }) => alert));
  });
});
