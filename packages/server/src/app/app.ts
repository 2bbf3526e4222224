import type { McpServer } from '@modelcontextprotocol/server';
import { urlsOf } from '../config/config.ts';
import { type Api, createApi } from '../http/api.ts';
import { anchorRoutes } from '../routes/anchor.ts';
import { anchorListRoutes } from '../routes/anchor-lists.ts';
import { attestationRoutes } from '../routes/attestations.ts';
import { balanceRoutes } from '../routes/balance.ts';
import { chooseRoutes } from '../routes/choose.ts';
import { benchmarkRoutes } from '../routes/compute-benchmark.ts';
import { callListRoutes } from '../routes/compute-calls.ts';
import { callRoutes } from '../routes/compute-chat.ts';
import { compressionRoutes } from '../routes/compute-compression.ts';
import { callContentRoutes } from '../routes/compute-content.ts';
import { feedbackRoutes } from '../routes/compute-feedback.ts';
import { memberRoutes } from '../routes/compute-members.ts';
import { messagesReadRoutes } from '../routes/compute-messages.ts';
import { computeReadRoutes } from '../routes/compute-reads.ts';
import { computeRootRoutes } from '../routes/compute-root.ts';
import { consoleRoutes, notFoundPage } from '../routes/console.ts';
import { correctionRoutes } from '../routes/corrections.ts';
import { coseRoutes } from '../routes/cose.ts';
import { issuerRoutes } from '../routes/issuers.ts';
import { keyOrderRoutes } from '../routes/key-orders.ts';
import { keyRoutes } from '../routes/keys.ts';
import { listingRoutes } from '../routes/listings.ts';
import { logRoutes } from '../routes/log.ts';
import { mcpRoutes } from '../routes/mcp.ts';
import { metaRoutes } from '../routes/meta.ts';
import { meteringRoutes } from '../routes/metering.ts';
import { operatorRoutes } from '../routes/operator.ts';
import { pageRoutes } from '../routes/pages.ts';
import { prospectorRoutes } from '../routes/prospector.ts';
import { paidRoutes } from '../routes/purchases.ts';
import { receiptRoutes } from '../routes/receipts.ts';
import { rosettaRoutes } from '../routes/rosetta.ts';
import { sessionListRoutes } from '../routes/session-list.ts';
import { sessionRoutes } from '../routes/sessions.ts';
import { siteRoutes } from '../routes/site.ts';
import { statusRoutes } from '../routes/status.ts';
import { statusHistoryRoutes } from '../routes/status-history.ts';
import { streamRoutes } from '../routes/streams.ts';
import { tenantRoutes } from '../routes/tenants.ts';
import { verifyRoutes } from '../routes/verify.ts';
import { webhookRoutes } from '../routes/webhooks.ts';
import { payableRoutes } from '../routes/x402-discovery.ts';
import type { Services } from '../services.ts';

interface AppOptions {
  /** Adds to each MCP server, for tests of the protocol. */
  readonly extendMcp?: (server: McpServer) => void;
  /** What `/metrics` says instead of the metrics of this process. */
  readonly exposition?: (() => Promise<string>) | null;
}

/** The whole HTTP surface over one set of services. */
export function createApp(services: Services, { extendMcp, exposition }: AppOptions = {}): Api['app'] {
  const { config, logger, storms, metrics, tracing } = services;
  const api = createApi({
    receiptsUrl: config.receiptsUrl,
    maxBodyBytes: config.maxBodyBytes,
    bodies: config.http.bodies,
    logger,
    storms,
    metrics,
    tracing,
    notFoundPage,
  });
  const endpoints = [
    ...receiptRoutes(services),
    ...correctionRoutes(services),
    ...listingRoutes(services),
    ...anchorListRoutes(services),
    ...sessionRoutes(services),
    ...sessionListRoutes(services),
    ...tenantRoutes(services),
    ...streamRoutes(services),
    ...meteringRoutes(services),
    ...verifyRoutes(services),
    ...anchorRoutes(services),
    ...coseRoutes(services),
    ...keyOrderRoutes(services),
    ...keyRoutes(services),
    ...balanceRoutes(services),
    ...webhookRoutes(services),
    ...paidRoutes(services),
    ...logRoutes(services),
    ...chooseRoutes(services),
    ...issuerRoutes(services),
    ...attestationRoutes(services),
    ...computeRootRoutes(services),
    ...callRoutes(services),
    ...callListRoutes(services),
    ...callContentRoutes(services),
    ...computeReadRoutes(services),
    ...messagesReadRoutes(services),
    ...compressionRoutes(services),
    ...feedbackRoutes(services),
    ...benchmarkRoutes(services),
    ...memberRoutes(services),
    ...rosettaRoutes(services),
    ...prospectorRoutes(services),
  ];
  api.add(
    ...endpoints,
    ...mcpRoutes(services, { api, endpoints, extend: extendMcp }),
    ...payableRoutes(services.payments, { endpoints, urlOf: urlsOf(config) }),
    ...pageRoutes(services),
    ...consoleRoutes(),
    ...siteRoutes({ ...services, api }),
    ...operatorRoutes(services),
    ...statusRoutes(services),
    ...statusHistoryRoutes(services),
    ...metaRoutes({
      api,
      ready: services.ready,
      exposition:
        exposition ??
        (async () => {
          await services.measure();
          return metrics.registry.metrics();
        }),
    }),
  );
  services.status.serveThrough((request) => api.app.fetch(request as Request, { probe: true }));
  return api.app;
}
