import type { McpServer } from '@modelcontextprotocol/server';
import { urlsOf } from '../config/config.ts';
import { type Api, createApi } from '../http/api.ts';
import { anchorRoutes } from '../routes/anchor.ts';
import { balanceRoutes } from '../routes/balance.ts';
import { chooseRoutes } from '../routes/choose.ts';
import { benchmarkRoutes } from '../routes/compute-benchmark.ts';
import { callRoutes } from '../routes/compute-chat.ts';
import { compressionRoutes } from '../routes/compute-compression.ts';
import { memberRoutes } from '../routes/compute-members.ts';
import { messagesReadRoutes } from '../routes/compute-messages.ts';
import { computeReadRoutes } from '../routes/compute-reads.ts';
import { computeRootRoutes } from '../routes/compute-root.ts';
import { issuerRoutes } from '../routes/issuers.ts';
import { keyOrderRoutes } from '../routes/key-orders.ts';
import { logRoutes } from '../routes/log.ts';
import { mcpRoutes } from '../routes/mcp.ts';
import { metaRoutes } from '../routes/meta.ts';
import { meteringRoutes } from '../routes/metering.ts';
import { pageRoutes } from '../routes/pages.ts';
import { prospectorRoutes } from '../routes/prospector.ts';
import { paidRoutes } from '../routes/purchases.ts';
import { receiptRoutes } from '../routes/receipts.ts';
import { rosettaRoutes } from '../routes/rosetta.ts';
import { sessionRoutes } from '../routes/sessions.ts';
import { statusRoutes } from '../routes/status.ts';
import { tenantRoutes } from '../routes/tenants.ts';
import { verifyRoutes } from '../routes/verify.ts';
import { payableRoutes } from '../routes/x402-discovery.ts';
import type { Services } from '../services.ts';

interface AppOptions {
  /** Adds to each MCP server, for tests of the protocol. */
  readonly extendMcp?: (server: McpServer) => void;
}

/** The whole HTTP surface over one set of services. */
export function createApp(services: Services, { extendMcp }: AppOptions = {}): Api['app'] {
  const { config, logger, storms, metrics, tracing } = services;
  const api = createApi({
    receiptsUrl: config.receiptsUrl,
    maxBodyBytes: config.maxBodyBytes,
    bodies: config.http.bodies,
    logger,
    storms,
    metrics,
    tracing,
  });
  const endpoints = [
    ...receiptRoutes(services),
    ...sessionRoutes(services),
    ...tenantRoutes(services),
    ...meteringRoutes(services),
    ...verifyRoutes(services),
    ...anchorRoutes(services),
    ...keyOrderRoutes(services),
    ...balanceRoutes(services),
    ...paidRoutes(services),
    ...logRoutes(services),
    ...chooseRoutes(services),
    ...issuerRoutes(services),
    ...computeRootRoutes(services),
    ...callRoutes(services),
    ...computeReadRoutes(services),
    ...messagesReadRoutes(services),
    ...compressionRoutes(services),
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
    ...statusRoutes(services),
    ...metaRoutes({ api, metrics, measure: services.measure, ready: services.ready }),
  );
  services.status.serveThrough((request) => api.app.fetch(request, { probe: true }));
  return api.app;
}
