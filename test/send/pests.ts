/** Two hundred receivers that mean harm, in a thread of their own: what they write must not count as our memory. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { later } from './hostile.js'

/** What a pest does, by the first segment of the path. All of them go on until they are cut off. */
export const PESTS = [
  'endless-body',
  'endless-chunks',
  'endless-extension',
  'endless-trailers',
  'endless-headers',
  'interim-flood',
  'gzip-bomb',
  'drip-headers',
  'drip-body',
  'garbage',
  'silence',
] as const
export type Pest = (typeof PESTS)[number]

const THREAD = `
const { createServer } = require('node:net')
const { gzipSync } = require('node:zlib')
const { parentPort } = require('node:worker_threads')

const flood = (socket, text) => {
  const piece = Buffer.from(text.repeat(Math.ceil(16384 / text.length)), 'latin1')
  const pour = () => { while (!socket.destroyed && socket.write(piece)); }
  socket.on('drain', pour)
  pour()
}
const drip = (socket, text) => {
  let at = 0
  const timer = setInterval(() => socket.destroyed || socket.write(text[at++ % text.length]), 5)
  socket.on('close', () => clearInterval(timer))
}
const OK = 'HTTP/1.1 200 OK\\r\\n'
const CHUNKED = OK + 'transfer-encoding: chunked\\r\\n\\r\\n'
const bomb = gzipSync(Buffer.alloc(20_000_000)).toString('latin1')
const deeds = {
  'endless-body': (socket) => { socket.write(OK + '\\r\\n'); flood(socket, 'x') },
  'endless-chunks': (socket) => { socket.write(CHUNKED); flood(socket, '1\\r\\nx\\r\\n') },
  'endless-extension': (socket) => { socket.write(CHUNKED + '1;'); flood(socket, 'x') },
  'endless-trailers': (socket) => { socket.write(CHUNKED + '0\\r\\n'); flood(socket, 'x-a: b\\r\\n') },
  'endless-headers': (socket) => { socket.write(OK); flood(socket, 'x-a: b\\r\\n') },
  'interim-flood': (socket) => flood(socket, 'HTTP/1.1 103 Early\\r\\nx: ' + 'y'.repeat(8000) + '\\r\\n\\r\\n'),
  'gzip-bomb': (socket) => { socket.write(OK + 'content-encoding: gzip\\r\\n\\r\\n'); flood(socket, bomb) },
  'drip-headers': (socket) => { socket.write(OK); drip(socket, 'x-drip: y\\r\\n') },
  'drip-body': (socket) => { socket.write(OK + 'content-length: 1000000\\r\\n\\r\\n'); drip(socket, 'z') },
  garbage: (socket) => flood(socket, '\\0\\xff\\r\\n\\x16\\x03'),
  silence: () => {},
}
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (chunk) => deeds[/^POST \\/([a-z-]+)/.exec(chunk.toString('latin1'))[1]](socket))
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

/** Starts them; the port on which they all listen, each under a host name of its own. */
export async function pests(): Promise<number> {
  const worker = new Worker(THREAD, { eval: true })
  later(async () => void (await worker.terminate()))
  const [port] = await once(worker, 'message')
  return port as number
}
