export { createTallystick, type TallystickProvider, type TallystickSettings } from './provider.ts';
export { createReceipts, type Receipts, type ReceiptsOptions } from './receipts.ts';
export { recordTools } from './record-tools.ts';
