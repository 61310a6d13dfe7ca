/** The request and the answer of an attempt, beside each other. */
import type { Attempt } from 'hookswitch/client'
import { t } from '../state/translate.js'
import { Body } from './body.js'
import { CopyButton } from './copy.js'
import { Headers } from './headers.js'
import { Line } from './hostile-text.js'
import { OutcomeState } from './outcome.js'
import { Clock, spanText } from './time.js'

export function Exchange({ attempt }: { readonly attempt: Attempt }) {
  const { req_headers: requestHeaders, req_body: requestBody = '', resp_headers: answerHeaders } = attempt
  const { resp_body: answerBody = '', duration_ms: durationMs, attempt: number } = attempt
  return (
    <div class="panel duo">
      <section>
        <header class="row">
          <h2>{t('attempt.request')}</h2>
          <span class="soft small">
            {number !== undefined && <>{t('attempt.number', { number })}, </>}
            <Clock at={attempt.sent_at} ms />
          </span>
          {requestBody !== '' && (
            <span class="push">
              <CopyButton size="tiny" label={t('attempt.copyBody')} text={() => requestBody}>
                {t('action.copy')}
              </CopyButton>
            </span>
          )}
        </header>
        {requestHeaders === undefined ? (
          <p>{t('attempt.notSent')}</p>
        ) : (
          <>
            <p class="mono small">
              <Line text={`${attempt.method.toUpperCase()} ${attempt.uri}`} />
            </p>
            {requestBody !== '' && <Body text={requestBody} label={t('attempt.requestBody')} />}
            <Headers headers={requestHeaders} />
          </>
        )}
      </section>
      <section>
        <header class="row">
          <h2>{t('attempt.response')}</h2>
          <OutcomeState attempt={attempt} isNamed />
        </header>
        {durationMs !== undefined && (
          <p class="soft small">
            {t(attempt.late === true ? 'attempt.lateAfter' : 'attempt.after', { span: spanText(durationMs) })}
          </p>
        )}
        {attempt.detail !== undefined && (
          <p class="small">
            <span class="soft">{t('attempt.observed')}</span>{' '}
            <span class="mono">
              <Line text={attempt.detail} />
            </span>
          </p>
        )}
        {attempt.out_of_order === true && <p class="small">{t('attempt.outOfOrder')}</p>}
        {answerBody !== '' && <Body text={answerBody} label={t('attempt.responseBody')} />}
        {answerHeaders && <Headers headers={answerHeaders} status={attempt.resp_status_code} />}
      </section>
    </div>
  )
}
