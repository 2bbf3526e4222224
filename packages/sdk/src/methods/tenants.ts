import type { DEFAULT_PROFILE, EvidenceManifest, Profile, ReceiptOfProfile } from '@tallystick/core';
import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import { type EmitParams, emit } from '../receipts/emit.ts';
import type { Issued } from '../receipts/issued.ts';
import type { PeriodParams } from './compute.ts';
import type { ListEvidenceExportsAnswer } from './documents.ts';
import { read, withQuery } from './read.ts';

/** A tenant's receipts and its evidence room (specification 4.1). `apiKey` is one of the tenant's keys. */
export interface TenantMethods {
  /** Emits a receipt like `emit`. It is always anchored, and only the tenant can read it. */
  emitTenantReceipt<P extends Profile = typeof DEFAULT_PROFILE>(
    tenantId: string,
    params: EmitParams<P>,
    call?: CallOptions,
  ): Promise<Issued<ReceiptOfProfile[P]>>;
  /**
   * Exports the evidence room as the bytes of `bundle.zip` (spec/evidence.md), in memory: choose a period that fits, and a
   * `timeoutMs` for the whole download. Bounds of the period may also be instants, `YYYY-MM-DDThh:mm:ssZ`.
   * @throws ServiceError (rate_limited after 100 exports a day…)
   */
  exportEvidence(tenantId: string, params?: PeriodParams, call?: CallOptions): Promise<Uint8Array>;
  /** Makes the same export, but returns only its signed manifest, and the exact text that is signed. */
  getEvidenceManifest(
    tenantId: string,
    params?: PeriodParams,
    call?: CallOptions,
  ): Promise<{ readonly manifest: EvidenceManifest; readonly text: string }>;
  /** Lists the exports of the last 365 days, oldest first. */
  listEvidenceExports(tenantId: string, call?: CallOptions): Promise<ListEvidenceExportsAnswer>;
}

export function tenantMethods(transport: Transport): TenantMethods {
  return {
    emitTenantReceipt: async (tenantId, params, call) =>
      emit(transport, params, call, pathOf(tenantId, 'receipts')),
    exportEvidence: async (tenantId, { from, to } = {}, call) =>
      transport.download(withQuery(pathOf(tenantId, 'evidence'), { from, to }), 'application/zip', call),
    getEvidenceManifest: async (tenantId, { from, to } = {}, call) => {
      const path = withQuery(pathOf(tenantId, 'evidence'), { from, to });
      const { json: manifest, text } = await transport.get<EvidenceManifest>(path, call);
      return { manifest, text };
    },
    listEvidenceExports: async (tenantId, call) =>
      read(transport, pathOf(tenantId, 'evidence/exports'), call),
  };
}

function pathOf(tenantId: string, rest: string): string {
  return `/tenants/${pathPart(tenantId, 'tenantId')}/${rest}`;
}
