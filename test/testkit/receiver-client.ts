import { connect } from 'node:net'
import { type ReceiverOptions, type ScriptedReceiver, type Step, scriptedReceiver } from 'hookswitch/testkit'
import { request } from 'undici'
import { onTestFinished } from 'vitest'

/** A receiver that listens, closed after the test. */
export async function started(options: ReceiverOptions = {}) {
  const receiver = scriptedReceiver(options)
  onTestFinished(() => receiver.close())
  await receiver.start()
  return receiver
}

export const playing = (...script: Step[]) => started({ script })

/** One request as an ordinary client makes it, its answer read to the end. */
export async function ask(url: string, options: Parameters<typeof request>[1] = {}) {
  const answer = await request(url, options)
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() }
}

/** A plain connection to it. */
export const dial = (receiver: ScriptedReceiver) =>
  connect(Number(new URL(receiver.url()).port), '127.0.0.1').setEncoding('latin1')

/** A client that reads bytes and judges nothing. */
export function listen(receiver: ScriptedReceiver, method = 'GET') {
  const socket = dial(receiver)
  const seen = { text: '', end: undefined as 'fin' | 'reset' | undefined, socket }
  socket.on('data', (text) => {
    seen.text += text
  })
  socket.on('end', () => {
    seen.end ??= 'fin'
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') seen.end = 'reset'
  })
  socket.write(`${method} / HTTP/1.1\r\nhost: x\r\n\r\n`)
  return seen
}
