import { shortMoney } from '../console/format/money.ts';
import { byId, element, setContents } from '../dom.ts';
import { fetchJson, isRequestFailure, reasonOf } from '../fetch-answer.ts';
import { landingProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';

interface Priced {
  readonly price_usd: string;
  readonly unit: string;
}

/** What the page shows of `/pricing`. */
interface Pricing {
  readonly free: { readonly mint: { readonly per_day: number | null } };
  readonly profiles: readonly (Priced & { readonly profile: string; readonly retention_days: number })[];
  readonly metering: Priced;
  readonly reads: Priced;
  readonly anchor_tiers: readonly {
    readonly tier: string;
    readonly anchored: string;
    readonly monthly_usd: string | null;
    readonly receipts: { readonly count: number; readonly per: string } | null;
  }[];
}

/** What the page shows of `/v1/compute/models`. */
interface Models {
  readonly data: readonly {
    readonly id: string;
    readonly svc: {
      readonly price_per_million_tokens: {
        readonly input: { readonly usdc: string };
        readonly output: { readonly usdc: string };
      };
    };
  }[];
}

/** How many models are shown: the others are in the list for programs. */
const SHOWN = 8;
/** Status of reads that the service sells to whoever sends no key. */
const PAYMENT_REQUIRED = 402;

/** Shows the prices that the service itself states. */
export async function showPrices(): Promise<void> {
  const { text } = prose;
  const [pricing, models] = await Promise.all([
    fetchJson<Pricing>('/pricing'),
    fetchJson<Models>('/v1/compute/models'),
  ]);
  const failed = (of: Parameters<typeof reasonOf>[0]): HTMLElement =>
    element('p', 'fine', reasonOf(of, text));
  if (isRequestFailure(pricing)) {
    for (const id of ['prices-receipts', 'prices-keys']) setContents(byId(id), failed(pricing));
  } else {
    setContents(byId('prices-receipts'), receiptsTable(pricing));
    setContents(byId('prices-keys'), keysTable(pricing));
  }
  const isSold = isRequestFailure(models) && models.status === PAYMENT_REQUIRED;
  setContents(
    byId('prices-models'),
    isSold
      ? element('p', 'fine', text.modelsSold)
      : isRequestFailure(models)
        ? failed(models)
        : modelsTable(models),
  );
}

function receiptsTable({ free, profiles, metering, reads }: Pricing): HTMLElement {
  const { text } = prose;
  const daily = free.mint.per_day;
  const rows = [
    [text.freeMint, daily === null ? text.free : formatText(text.freeDaily, daily)],
    [text.verifying, text.free],
    ...profiles.map(({ profile, retention_days: days, price_usd: price }): [string, string] => [
      formatText(text.profile, profile, days),
      shortMoney(price),
    ]),
    [text.metering, shortMoney(metering.price_usd)],
    [text.reads, shortMoney(reads.price_usd)],
  ];
  return tableOf(text.ofReceipts, [text.what, text.price], rows);
}

function keysTable({ anchor_tiers: tiers }: Pricing): HTMLElement {
  const { text } = prose;
  const rows = tiers.map(({ tier, anchored, receipts, monthly_usd: price }) => {
    const limit =
      receipts === null ? '' : formatText(text.limit, receipts.count.toLocaleString('en'), receipts.per);
    return [tier, anchored + limit, price === null ? text.onRequest : shortMoney(price)];
  });
  return tableOf(text.ofKeys, [text.tier, text.anchored, text.monthly], rows, [1]);
}

function modelsTable({ data }: Models): HTMLElement {
  const { text } = prose;
  const rows = data.slice(0, SHOWN).map(({ id, svc }): [string, string, string] => {
    const { input, output } = svc.price_per_million_tokens;
    return [id, shortMoney(input.usdc), shortMoney(output.usdc)];
  });
  return tableOf(
    formatText(text.ofModels, rows.length, data.length),
    [text.model, text.input, text.output],
    rows,
  );
}
