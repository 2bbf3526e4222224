import { announce, byId, copyButton, element, setContents } from '../dom.ts';
import { fetchJson, isRequestFailure, reasonOf } from '../fetch-answer.ts';
import { leaderboardProse as prose } from '../prose.ts';
import { boardOf, tierRows } from './board.ts';
import type { Descriptor, Member } from './documents.ts';

/** Shows the command that registers a DID. */
function showCommand(): void {
  const command = `curl -X POST ${location.origin}/v1/compute/member/register -H 'Content-Type: application/json' -d '{"did": "did:key:…", "handle": "…"}'`;
  setContents(byId('join'), command);
  setContents(byId('join-copy'), copyButton(command, prose.text.command));
}

async function show(): Promise<void> {
  const [answer, descriptor] = await Promise.all([
    fetchJson<{ members: readonly Member[] }>('/v1/compute/member/leaderboard?limit=100'),
    fetchJson<Descriptor>('/v1/compute'),
  ]);
  if (isRequestFailure(answer)) {
    const reason = reasonOf(answer, prose.text);
    setContents(
      byId('board'),
      element('p', 'refusal', element('strong', '', prose.text.refused), ` ${reason}`),
    );
    announce(reason);
  } else {
    setContents(byId('board'), boardOf(answer.members));
  }
  if (!isRequestFailure(descriptor)) setContents(byId('tiers'), ...tierRows(descriptor));
}

showCommand();
void show();
