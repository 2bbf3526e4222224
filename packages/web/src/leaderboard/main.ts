import { askJson, isRefusal, reasonOf } from '../ask.ts';
import { announce, byId, copyButton, element, put } from '../dom.ts';
import { leaderboardProse as prose } from '../prose.ts';
import { boardOf, tierRows } from './board.ts';
import type { Descriptor, Member } from './documents.ts';

/** The command that puts a DID on the board. */
function showCommand(): void {
  const command = `curl -X POST ${location.origin}/v1/compute/member/register -H 'Content-Type: application/json' -d '{"did": "did:key:…", "handle": "…"}'`;
  put(byId('join'), command);
  put(byId('join-copy'), copyButton(command, prose.text.command));
}

async function show(): Promise<void> {
  const [answer, descriptor] = await Promise.all([
    askJson<{ members: readonly Member[] }>('/v1/compute/member/leaderboard?limit=100'),
    askJson<Descriptor>('/v1/compute'),
  ]);
  if (isRefusal(answer)) {
    const reason = reasonOf(answer, prose.text);
    put(byId('board'), element('p', 'refusal', element('strong', '', prose.text.refused), ` ${reason}`));
    announce(reason);
  } else {
    put(byId('board'), boardOf(answer.members));
  }
  if (!isRefusal(descriptor)) put(byId('tiers'), ...tierRows(descriptor));
}

showCommand();
void show();
