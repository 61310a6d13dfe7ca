// @ts-check
/** Services with a fault that one request in a thousand meets: a run through one of them must find it. */

/** @typedef {import('hookswitch').HttpService} HttpService */

/** @param {(response: import('hookswitch').ResponseRecord, request: import('hookswitch').RequestRecord) => import('hookswitch').ResponseRecord | Promise<import('hookswitch').ResponseRecord>} change @returns {(service: HttpService) => HttpService} */
const changed = (change) => (service) => ({
  ...service,
  handle: async (request) => change(await service.handle(request), request),
})

/** @param {import('hookswitch').ResponseRecord} response @param {string} body */
const withBody = (response, body) => ({
  ...response,
  headers: { ...response.headers, 'content-length': String(Buffer.byteLength(body)) },
  body: response.body === '' ? '' : body,
})

/** @type {Readonly<Record<string, (service: HttpService) => HttpService>>} */
export const DOCTORS = {
  '500 for a header': changed((response, { headers }) =>
    headers['x-many-7'] === undefined ? response : { ...response, status: 500 },
  ),
  'another body': changed((response, { url }) =>
    url.includes('page_size=')
      ? withBody(response, response.body.replace('"status":"success"', '"status":"success" '))
      : response,
  ),
  'an envelope without its status': changed((response) =>
    response.status === 415 ? withBody(response, response.body.replace('"status":"error",', '')) : response,
  ),
  'no answer': changed((response, { headers }) =>
    headers['if-match'] === undefined ? response : new Promise(() => {}),
  ),
  'a secret': changed((response) =>
    response.status === 405
      ? withBody(response, response.body.replace('"data":{', `"data":{"debug":"${'o'.repeat(64)}",`))
      : response,
  ),
}
