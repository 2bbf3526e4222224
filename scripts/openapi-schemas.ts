import { writeFileSync } from 'node:fs';
import { compileReceiptSchemas } from './openapi/receipt-schemas.ts';

/** Compiles the receipts of spec/schemas into the file that the OpenAPI document has them from. */
const target = new URL('../packages/server/src/http/receipt-schemas.json', import.meta.url);
writeFileSync(target, compileReceiptSchemas());
console.log('Wrote packages/server/src/http/receipt-schemas.json.');
