import type { SchemaCheck } from '../values/schema-failures.js'

/** Tests a published event against `eventSchema`; the `.js` beside this is made by `npm run generate`. */
export declare const validateEvent: SchemaCheck
