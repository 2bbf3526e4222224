import { isObject } from '@tallystick/core';
import type { Documents } from '../documents.ts';
import { type Inspection, isDocument } from '../inspection.ts';
import { openApiFaults } from '../openapi-faults.ts';

/** Checks whether the interface is described in a form that tools can read. */
export async function checkOpenApi({ found, well }: Inspection, { openapi }: Documents): Promise<boolean> {
  if (openapi === null) return false;
  if (!isDocument(openapi) || !isObject(openapi.json)) {
    const what = openapi.status === 200 ? 'something that is not a JSON object' : String(openapi.status);
    found('openapi_missing', `It answered with ${what}.`, openapi);
    return true;
  }
  const faults = openApiFaults(openapi.json);
  if (faults.length > 0) found('openapi_invalid', `${faults.join('; ')}.`, openapi);
  else well('openapi', 'OpenAPI 3, and its references resolve.');
  return true;
}
