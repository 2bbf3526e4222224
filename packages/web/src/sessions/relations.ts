import type { SessionVerification } from '@tallystick/core';
import { element, icon } from '../dom.ts';
import { formatText } from '../words.ts';
import { type JudgedSession, stateOf } from './judged.ts';
import { sessionProse as prose } from './prose.ts';

/** What a session says about one of the others, and whether that other one agrees. */
interface Relation {
  readonly to: JudgedSession | null;
  readonly isTrue: boolean;
  readonly text: string;
}

/** Draws how several sessions belong together: what goes on from another, or was begun from it, stands below it. */
export function relationsOf(
  judged: readonly JudgedSession[],
  linkTo: (session: JudgedSession) => HTMLElement,
): HTMLElement {
  const relations = new Map(judged.map((session) => [session, relationOf(session, judged)]));
  const left = new Set(judged);
  const below = (parent: JudgedSession | null): HTMLElement[] =>
    judged.filter((session) => relations.get(session)?.to === parent).map(itemOf);
  const itemOf = (session: JudgedSession): HTMLElement => {
    left.delete(session);
    const { isTrue = true, text = '' } = relations.get(session) ?? {};
    const state = isTrue ? stateOf(session.verdict) : 'fail';
    const children = below(session);
    const item = element('li', '', icon(state), linkTo(session), element('span', 'detail', text));
    item.dataset['state'] = state;
    if (children.length > 0) item.append(element('ul', '', ...children));
    return item;
  };
  const trees = below(null);
  // Sessions that name each other in a circle are below none.
  return element('ul', 'related', ...trees, ...[...left].map(itemOf));
}

function relationOf({ verdict }: JudgedSession, judged: readonly JudgedSession[]): Relation {
  const { continues, parent } = verdict;
  const find = (id: string | undefined): JudgedSession | undefined =>
    judged.find((other) => other.verdict !== verdict && other.verdict.id === id);
  const before = find(continues?.id);
  const above = find(parent?.id);
  if (continues !== null && before !== undefined) {
    const agrees = isEndOf(before.verdict, continues);
    const text = formatText(agrees ? prose.continuesGiven : prose.continuesOther, before.name);
    return { to: before, isTrue: agrees, text };
  }
  if (parent === null || above === undefined) return { to: null, isTrue: true, text: prose.root };
  const { entries } = above.verdict;
  const isThere = entries.some(
    ({ seq, sha256 }) => String(seq) === parent.seq && sha256 === parent.receipt_sha256,
  );
  const isNamed = entries.some(
    ({ call, reference }) => call.kind === 'reference' && call.child === verdict.id && reference === 'valid',
  );
  const known = isNamed ? prose.parentGiven : prose.parentSilent;
  const text = formatText(isThere ? known : prose.parentOther, parent.seq, above.name);
  return { to: above, isTrue: isThere && isNamed, text };
}

/** Whether a session was closed with this count and this head. */
function isEndOf(
  { entries }: SessionVerification,
  { count, head }: NonNullable<SessionVerification['continues']>,
): boolean {
  return entries.some(
    ({ call }) =>
      call.kind === 'session' && call.event === 'close' && call.count === count && call.head === head,
  );
}
