import type { SchemaValidator } from './schema-failures.js'

// `npm run generate` writes the .js file from the JSON Schemas in webhooks/webhook-schema, delivery/event-schema and
// wire/body-schemas.
export declare const validateWebhook: SchemaValidator
export declare const validateEvent: SchemaValidator
export declare const validateApiAuth: SchemaValidator
export declare const validateUserAuth: SchemaValidator
export declare const validateReenable: SchemaValidator
export declare const validateReplay: SchemaValidator
