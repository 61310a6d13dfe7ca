/** A request as it came in, taken apart so that another client can send the same. */

/** Headers that the client writes by itself. */
const OWN = new Set(['host', 'connection', 'content-length'])

/** @param {string} text a request as it came in */
export function parseRequest(text) {
  const end = text.indexOf('\r\n\r\n')
  const [first, ...lines] = text.slice(0, end).split('\r\n')
  const [method, path] = first.split(' ')
  const headers = lines
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    .filter(([name]) => !OWN.has(name.toLowerCase()))
    .flat()
  return { method, path, headers, body: text.slice(end + 4) }
}
