/** `@tallystick/cli/toolkit`: code that the commands of another package share with those of `tally`. */
export { type Command, InvalidArgumentError, Option } from 'commander';
export { noRpcUrl, serviceRpcOption } from './anchor/rpc-option.ts';
export { apiKeyOption } from './api-key.ts';
export { unreadable, unwritable, writeAtomically, writeOut } from './files.ts';
export { nameOf, readBytes, readJson, readText } from './input.ts';
export { readKeyFile, readSecretKey } from './key-file.ts';
export { showCheckpoint } from './log/checkpoint.ts';
export { seenHeads } from './log/seen-heads.ts';
export { csvFields } from './meter/csv.ts';
export { type Operator, operatorCommand } from './operator.ts';
export { asUsage, EXIT, type Exit, paint, print, printJson, remark, UsageError } from './output.ts';
export { printable } from './printable.ts';
export { leavesText, ProgressLine } from './progress-line.ts';
export { checkedReceipt } from './receipt-out.ts';
export { headerOption, serviceAt, urlOption } from './service.ts';
export { readWitnessPolicy } from './witness-policy.ts';
