import { type CorrectionVerdict, parseJson, type Trust, utf8, verifyCorrections } from '@tallystick/core';
import { ApiProblem, api, apiText } from '../../api.ts';

/** One member of `GET /v1/receipt/{id}/corrections`. */
interface NamedLink {
  readonly link_id: string;
  readonly receipt_id: string;
  readonly reason: string | null;
}

/** A correction of which a receipt is one side. */
export interface CorrectionOfReceipt {
  readonly kind: 'corrected_by' | 'corrects';
  readonly link: NamedLink;
  /** What this page found of it; null where the service does not show its envelope. */
  readonly verdict: CorrectionVerdict | null;
}

/**
 * Asks the service which receipt corrects this one and which one this one corrects, and judges both links here.
 * @param text the receipt
 */
export async function correctionsOf(
  { id, text }: { readonly id: string; readonly text: string },
  { trust, signal }: { readonly trust: Trust; readonly signal: AbortSignal },
): Promise<CorrectionOfReceipt[]> {
  const named = await api<Record<CorrectionOfReceipt['kind'], NamedLink | null>>(
    `/v1/receipt/${id}/corrections`,
    { signal },
  );
  const links = (['corrected_by', 'corrects'] as const).flatMap((kind) => {
    const link = named[kind];
    return link === null ? [] : [{ kind, link }];
  });
  const others = links.flatMap(({ link }) => [link.link_id, link.receipt_id]);
  const texts = await Promise.all(others.map((other) => textOf(other, signal)));
  const documents = [text, ...texts.filter((one) => one !== null)].map((one) => parseJson(utf8(one)));
  const verdicts = await verifyCorrections(documents, { now: Date.now(), trust });
  return links.map(({ kind, link }) => {
    const verdict = verdicts.find(({ receipt_id }) => receipt_id === link.link_id) ?? null;
    return { kind, link, verdict };
  });
}

/** The text of a receipt; null where the service does not show it to this caller. */
async function textOf(id: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await apiText(`/v1/receipt/${id}`, { signal });
  } catch (error) {
    if (error instanceof ApiProblem && error.status !== null) return null;
    throw error;
  }
}
