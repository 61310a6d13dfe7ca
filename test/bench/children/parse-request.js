/** Parses a received request, so that another client can send the same. */

/** Headers that the client adds itself. */
const CLIENT_HEADERS = new Set(['host', 'connection', 'content-length'])

/** @param {string} text of the request as received */
export function parseRequest(text) {
  const end = text.indexOf('\r\n\r\n')
  const [first, ...lines] = text.slice(0, end).split('\r\n')
  const [method, path] = first.split(' ')
  const headers = lines
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    .filter(([name]) => !CLIENT_HEADERS.has(name.toLowerCase()))
    .flat()
  return { method, path, headers, body: text.slice(end + 4) }
}
