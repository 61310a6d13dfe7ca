import { describe, expect, it } from 'vitest'
import { isRelevantEvent } from '../../../adapters/telephony/asterisk/ami-event.js'
import { createAmiMessage, eventNameOf, unescapeC } from '../../../adapters/telephony/asterisk/ami-message.js'
import { amiTexts, recordedLegId } from './asterisk-scenarios.js'

const channelEvents = (of: string, name: string) =>
  amiTexts.filter((text) => text.startsWith(`Event: ${name}\r\n`) && text.includes(of))

describe('an AMI message', () => {
  it('ChanVariable occurs once per variable and channel of an event', () => {
    const [dial] = channelEvents('a01-caller-hangup-1', 'DialBegin')
    const message = createAmiMessage(Buffer.from(`${dial}\r\n`))
    expect(message.variables('')('ACCOUNT_ID')).toBe('alpha')
    expect(message.variables('')('SIPCALLID')).toBe('a01-caller-hangup-1')
    expect(message.variables('Dest')('SIPCALLID')).toBe(recordedLegId('a01-caller-hangup-1'))
    expect(message.variables('')('NONE')).toBeUndefined()
  })

  it('the variables of a response to Originate have their channel in the key', () => {
    const [response] = channelEvents('originate-1', 'OriginateResponse')
    const message = createAmiMessage(Buffer.from(`${response}\r\n`))
    expect(response).toContain('ChanVariable(PJSIP/2013-0000003e): ACCOUNT_ID=alpha')
    expect(message.variables('')('ACCOUNT_ID')).toBe('alpha')
    expect(message.variables('')('SIPCALLID')).toBeUndefined()
  })

  it('a bare LF is part of a value', () => {
    const parked = amiTexts.find((text) => text.includes('Park successful'))!
    expect(createAmiMessage(Buffer.from(`${parked}\r\n`)).get('Message')).toBe('Park successful\n')
  })

  it('<unknown> and an empty value count as absent', () => {
    const [first] = channelEvents('1795174204.0', 'Newchannel')
    const message = createAmiMessage(Buffer.from(`${first}\r\n`))
    expect([message.get('ConnectedLineNum'), message.variables('')('ACCOUNT_ID')]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('C escapes of AMI are reversed', () => {
    expect(unescapeC('O\\\'Brien \\"x\\" who\\? a\\\\b\\nc')).toBe('O\'Brien "x" who? a\\b\nc')
  })

  it('the items of a list have the form of events but are skipped', () => {
    const lines = amiTexts.filter((text) => text.startsWith('Event: CoreShowChannel\r\n'))
    expect(lines).toHaveLength(8)
    expect(lines.every((text) => !isRelevantEvent(eventNameOf(Buffer.from(text))))).toBe(true)
  })

  it('the event class call is sufficient for legs, which is half of the stream; queues and keys have their own', () => {
    const used = amiTexts.filter((text) => isRelevantEvent(eventNameOf(Buffer.from(text))))
    expect(used.length).toBeGreaterThan(600)
    const ofOtherClasses = used.filter((text) => !text.includes('\r\nPrivilege: call,all\r\n'))
    const names = new Set(ofOtherClasses.map((text) => eventNameOf(Buffer.from(text))))
    expect([...names].sort()).toEqual([
      'AgentCalled',
      'AgentComplete',
      'AgentConnect',
      'DTMFEnd',
      'QueueCallerJoin',
      'QueueCallerLeave',
    ])
    expect(
      amiTexts.filter((text) => text.startsWith('Event: VarSet')).length / amiTexts.length,
    ).toBeGreaterThan(0.4)
  })
})
