import { copyButton, element, fromTemplate } from '../dom.ts';
import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { roundTicks } from '../plot/scale.ts';
import { leaderboardProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText, lookUp } from '../words.ts';
import type { Descriptor, Member } from './documents.ts';

/** Most members that the plot shows. */
const DRAWN = 20;
/** Least range of the axis, in calls. */
const LEAST_AXIS = 4;
/** Number of characters of a DID that are shown at each end. */
const ENDS = 12;

const count = (number: number): string => number.toLocaleString('en');
const tierName = (tier: string): string => lookUp(prose.tiers, tier) ?? tier;

/** Draws the members with their calls, or says that there are none. */
export function boardOf(members: readonly Member[]): Node {
  const { text, columns } = prose;
  if (members.length === 0) {
    return fromTemplate('t-empty', { title: text.nobody, message: text.nobodyMessage });
  }
  const drawn = members.slice(0, DRAWN);
  const cut = members.length > DRAWN ? ` ${formatText(text.noteCut, DRAWN)}` : '';
  return figureOf({
    title: text.title,
    note: text.note + cut,
    series: [],
    draw: (width) =>
      rowPlot(width, {
        rows: drawn.map((member) => ({
          name: `${member.rank}. ${nameOf(member)}`,
          marks: [{ value: member.jobs, low: 0, high: member.jobs }],
        })),
        mark: 'range',
        ticks: roundTicks([0, LEAST_AXIS, ...drawn.map(({ jobs }) => jobs)], width < 500 ? 4 : 6).filter(
          Number.isInteger,
        ),
        zero: 0,
        format: count,
        title: text.axis,
      }),
    table: tableOf(
      text.title,
      [columns.rank, columns.member, columns.tier, columns.jobs, columns.next, columns.share],
      members.map((member) => [
        count(member.rank),
        nameCell(member),
        tierName(member.tier),
        count(member.jobs),
        member.jobs_to_next_tier === null ? text.top : count(member.jobs_to_next_tier),
        formatText(text.percent, member.spread_pct),
      ]),
      [1, 2],
    ),
  });
}

function nameOf({ handle, did }: Member): string {
  if (handle !== null) return handle;
  return did.length <= 2 * ENDS ? did : `${did.slice(0, ENDS)}…${did.slice(-ENDS / 2)}`;
}

function nameCell(member: Member): HTMLElement {
  const shown = element('span', '', nameOf(member));
  shown.title = member.did;
  return element('span', 'hash', shown, copyButton(member.did, prose.text.did));
}

/** Draws each tier with the number of calls that it takes and the share that it gives. */
export function tierRows({ routing_spread_pct, member_registration }: Descriptor): HTMLElement[] {
  return Object.entries(member_registration.tiers_at_jobs).map(([tier, jobs]) => {
    const name = element('th', '', tierName(tier));
    name.setAttribute('scope', 'row');
    const share = formatText(prose.text.percent, routing_spread_pct[tier]);
    return element('tr', '', name, element('td', '', count(jobs)), element('td', '', share));
  });
}
