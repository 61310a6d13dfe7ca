// @ts-check
/** Services with a fault that affects about one request in a thousand. A fuzz run through one of them must find it. */

/** @typedef {import('hookswitch/adapter').HttpService} HttpService */

/** @param {(response: import('hookswitch/adapter').ResponseRecord, request: import('hookswitch/adapter').RequestRecord) => import('hookswitch/adapter').ResponseRecord | Promise<import('hookswitch/adapter').ResponseRecord>} change @returns {(service: HttpService) => HttpService} */
const changingResponse = (change) => (service) => ({
  ...service,
  handle: async (request) => change(await service.handle(request), request),
})

/** @param {import('hookswitch/adapter').ResponseRecord} response @param {string} body */
const withBody = (response, body) => ({
  ...response,
  headers: { ...response.headers, 'content-length': String(Buffer.byteLength(body)) },
  body: response.body === '' ? '' : body,
})

/** @type {Readonly<Record<string, (service: HttpService) => HttpService>>} */
export const FAULT_INJECTORS = {
  '500 for a header': changingResponse((response, { headers }) =>
    headers['x-many-7'] === undefined ? response : { ...response, status: 500 },
  ),
  'a different body': changingResponse((response, { url }) =>
    url.includes('page_size=')
      ? withBody(response, response.body.replace('"status":"success"', '"status":"success" '))
      : response,
  ),
  'an envelope without status': changingResponse((response) =>
    response.status === 415 ? withBody(response, response.body.replace('"status":"error",', '')) : response,
  ),
  'no response': changingResponse((response, { headers }) =>
    headers['if-match'] === undefined ? response : new Promise(() => {}),
  ),
  'a leaked secret': changingResponse((response) =>
    response.status === 405
      ? withBody(response, response.body.replace('"data":{', `"data":{"debug":"${'o'.repeat(64)}",`))
      : response,
  ),
}
