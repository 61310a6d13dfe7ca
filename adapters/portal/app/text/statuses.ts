/** Names of HTTP statuses (RFC 9110, RFC 6585), the same in every language. Pure. */

const NAMES: Readonly<Record<string, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** Whether a cause is a status rather than a code. */
export const isStatus = (cause: string): boolean => /^\d{3}$/.test(cause)

/** `503 Service Unavailable`; the number alone where it has no common name. */
export function statusText(status: string): string {
  const name = Object.hasOwn(NAMES, status) ? NAMES[status] : undefined
  return name === undefined ? status : `${status} ${name}`
}
