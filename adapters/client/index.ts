/** `hookswitch/client`: a client of the HTTP API for Node and browsers. */
export type { ApiResponse, CallOptions, CallParameters, Endpoint, FieldWarning } from './call.js'
export { type ClientOptions, createClient, type HookswitchClient } from './client.js'
export type { UserLogin } from './credentials.js'
export type { ClientClock } from './deadline.js'
export { type ClientErrorCode, type ClientErrorDetails, HookswitchClientError } from './error.js'
export type { List, Page } from './list.js'
export type * from './operations.generated.js'
export type { StreamItem, StreamOptions, StreamParameters } from './stream.js'
