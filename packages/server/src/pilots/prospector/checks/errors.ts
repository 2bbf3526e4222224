import { isObject } from '@tallystick/core';
import type { Documents } from '../documents.ts';
import type { Answer, Inspection } from '../inspection.ts';

const NOWHERE = { method: 'GET', path: '/readiness-check/there-is-nothing-here' } as const;
const TRUNCATED = '{"input":';

/** What stack traces of common runtimes and local file paths look like. */
const TRACES: readonly RegExp[] = [
  /\bat [\w$.<>[\] ]+ \(?(?:file:|node:|[A-Za-z]:\\|\/)[^\s)]*:\d+:\d+/,
  /Traceback \(most recent call last\)/,
  /\bFile "[^"]+", line \d+/,
  /\bat [\w$.]+\([\w$]+\.(?:java|kt|scala):\d+\)/,
  /\bgoroutine \d+ \[/,
  /\bpanicked at\b/,
  /\/node_modules\//,
];

/** Checks how the caller's mistakes are answered: broken JSON, twice, and a path where nothing is. */
export async function checkErrors(inspection: Inspection, { places }: Documents): Promise<boolean> {
  const place = [places.receipt_free, places.receipt_verify].find((one) => one?.method === 'POST');
  const bad = place === undefined || place === null ? [] : [place, place];
  const answers: Answer[] = [];
  for (const wrong of [...bad, NOWHERE]) {
    const answer = await inspection.ask(wrong, wrong.method === 'POST' ? { body: TRUNCATED } : {});
    if (answer === null) return false;
    answers.push(answer);
  }
  for (const answer of answers) assess(inspection, answer);
  const [first, second] = answers;
  if (bad.length === 2 && first !== undefined && second !== undefined && codeOf(first) !== codeOf(second))
    inspection.found('error_no_code', 'The same mistake got two different codes.', first, second);
  inspection.well('errors', `Bad requests sent: ${answers.length}.`);
  return true;
}

function assess({ found }: Inspection, answer: Answer): void {
  const { status, headers, json, body } = answer;
  if (status < 400 || status > 499) return found('error_status', `It answered ${status}.`, answer);
  const text = new TextDecoder().decode(body);
  if (TRACES.some((trace) => trace.test(text)))
    found('error_trace', 'It contains a stack trace or a path.', answer);
  const type = headers.get('content-type') ?? 'missing';
  const isProblem = isObject(json) && typeof json['title'] === 'string' && typeof json['status'] === 'number';
  if (!type.startsWith('application/problem+json') || !isProblem)
    found('error_not_problem', `The content type is ${type}.`, answer);
  else if (codeOf(answer) === null)
    found('error_no_code', 'It has neither code nor a type of its own.', answer);
}

function codeOf({ json }: Answer): string | null {
  if (!isObject(json)) return null;
  const { code, type } = json;
  if (typeof code === 'string') return code;
  return typeof type === 'string' && type !== 'about:blank' ? type : null;
}
