import type { SchemaValidator } from './schema-failures.js'

// `npm run generate` writes the .js file from the JSON Schemas in accounts/account-schema, webhooks/webhook-schema, delivery/event-schema and
// wire/body-schemas.
export declare const validateWebhook: SchemaValidator
export declare const validateEvent: SchemaValidator
export declare const validateAccount: SchemaValidator
export declare const validateUser: SchemaValidator
export declare const validateApiAuth: SchemaValidator
export declare const validateUserAuth: SchemaValidator
export declare const validateReenable: SchemaValidator
export declare const validateReplay: SchemaValidator
export declare const validateReplayState: SchemaValidator
export declare const validateHold: SchemaValidator
export declare const validateWebhookJob: SchemaValidator
export declare const validateWhy: SchemaValidator
export declare const validatePreview: SchemaValidator
