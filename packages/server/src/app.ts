import { type Api, createApi } from './http/api.ts';
import { anchorRoutes } from './routes/anchor.ts';
import { chooseRoutes } from './routes/choose.ts';
import { issuerRoutes } from './routes/issuers.ts';
import { logRoutes } from './routes/log.ts';
import { metaRoutes } from './routes/meta.ts';
import { meteringRoutes } from './routes/metering.ts';
import { pageRoutes } from './routes/pages.ts';
import { receiptRoutes } from './routes/receipts.ts';
import { verifyRoutes } from './routes/verify.ts';
import type { Services } from './services.ts';

/** The whole HTTP surface over one set of services. */
export function createApp(services: Services): Api['app'] {
  const { config, logger, metrics } = services;
  const api = createApi({
    receiptsUrl: config.receiptsUrl,
    maxBodyBytes: config.maxBodyBytes,
    logger,
    metrics,
  });
  api.add(
    ...receiptRoutes(services),
    ...meteringRoutes(services),
    ...verifyRoutes(services),
    ...anchorRoutes(services),
    ...logRoutes(services),
    ...chooseRoutes(services),
    ...issuerRoutes(services),
    ...pageRoutes(services),
    ...metaRoutes({ api, metrics, measure: services.measure, ready: services.ready }),
  );
  return api.app;
}
