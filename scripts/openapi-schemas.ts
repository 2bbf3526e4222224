import { writeFileSync } from 'node:fs';
import { compileReceiptSchemas } from './openapi/receipt-schemas.ts';

/** File that the OpenAPI document gets the receipts' schemas from, compiled from spec/schemas. */
const target = new URL('../packages/server/src/http/receipt-schemas.json', import.meta.url);
writeFileSync(target, compileReceiptSchemas());
console.log('Wrote packages/server/src/http/receipt-schemas.json.');
