import { hs } from '../../lib/hookswitch'

/** In place of the code that learns of your calls. */
export async function POST(request: Request): Promise<Response> {
  const { callId, from, to } = await request.json()
  const call = { accountId: 'acme', callId, direction: 'inbound', from, to } as const
  const { eventId } = await hs.publish({ hook: 'channel_create', ...call })
  return Response.json({ eventId }, { status: 202 })
}
