import type { SchemaCheck } from '../values/schema-failures.js'

/** Tests settings against `webhookSchema`; the `.js` beside this is made by `npm run generate`. */
export declare const validateWebhook: SchemaCheck
