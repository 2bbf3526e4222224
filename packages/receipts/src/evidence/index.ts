export { streamBundle } from './bundle-stream.ts';
export { exportListing, findExport, makeExport, type RoomExport } from './export.ts';
export { refuseEmptyPeriod } from './room.ts';
