import { paint, printable } from '@tallystick/cli/toolkit';
import type { Report as Readiness } from '../../pilots/prospector/report.ts';

const VERDICTS = { ready: 'ready', gaps: 'has gaps', not_ready: 'not ready' } as const;
const VERDICT_COLOURS = { ready: 'green', gaps: 'yellow', not_ready: 'red' } as const;
const COLOURS = { critical: 'red', major: 'yellow', minor: 'dim' } as const;
const MARKS = { passed: '✓', found: '✗', not_checked: '–' } as const;

/** A readiness report in lines for a terminal. */
export function table(report: Readiness): string {
  const { origin, verdict, score, coverage, complete, areas, findings, trust_note } = report;
  const checked = coverage === 100 ? '' : `; areas of weight ${coverage} were checked`;
  const head = `${origin}: ${VERDICTS[verdict] ?? verdict}, ${score} of 100${checked}`;
  return [
    paint('bold', paint(VERDICT_COLOURS[verdict] ?? 'dim', printable(head))),
    ...(complete ? [] : [paint('yellow', 'There was not enough time for every check.')]),
    '',
    paint('dim', '  area        weight  score'),
    ...areas.map(areaLine),
    ...(findings.length === 0 ? [] : ['', paint('bold', 'Findings')]),
    ...findings.flatMap(findingLines),
    '',
    paint('dim', printable(trust_note)),
  ].join('\n');
}

function areaLine({ area, weight, score, state, notes }: Readiness['areas'][number]): string {
  const mark = MARKS[state] ?? '?';
  const cells = `${area.padEnd(11)} ${String(weight).padStart(6)}  ${String(score ?? '–').padStart(5)}`;
  const note = state === 'not_checked' && notes.length === 0 ? 'not checked' : notes.join(' ');
  return printable(`${mark} ${cells}  ${note}`.trimEnd());
}

function findingLines({
  code,
  severity,
  title,
  detail,
  fix,
  evidence,
}: Readiness['findings'][number]): string[] {
  return [
    `${paint(COLOURS[severity] ?? 'dim', printable(`${severity.padEnd(8)} ${code}`))}  ${printable(title)}`,
    printable(`    ${detail}`),
    printable(`    fix: ${fix}`),
    ...evidence.map(({ method, url, status, excerpt }) =>
      paint('dim', printable(`    ${method} ${url} → ${status ?? 'no answer'}  ${excerpt}`.trimEnd())),
    ),
  ];
}
