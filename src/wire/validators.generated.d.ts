import type { SchemaCheck } from '../values/schema-failures.js'

// The `.js` beside this is made by `npm run generate` from `body-schemas`.
export declare const validateApiAuth: SchemaCheck
export declare const validateUserAuth: SchemaCheck
export declare const validateReenable: SchemaCheck
export declare const validateReplay: SchemaCheck
