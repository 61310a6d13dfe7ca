// Made by "npm run generate" from the schemas in the sources. Do not edit.
"use strict";
export const validateWebhook = validate10;
const schema11 = {"type":"object","required":["name","uri","hook"],"properties":{"name":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\u0000\\p{Cs}]*$"},"uri":{"type":"string","maxLength":2048},"hook":{"type":"string","minLength":1,"maxLength":64},"only":{"type":"array","items":{"type":"string","maxLength":64},"minItems":1,"maxItems":100,"uniqueItems":true},"filter":{"type":"object"},"httpVerb":{"type":"string","enum":["get","post","put","patch","delete"]},"retries":{"type":"integer","minimum":0,"maximum":30},"format":{"type":"string","enum":["json","form-data"]},"enabled":{"type":"boolean"},"includeSubaccounts":{"type":"boolean"},"includeInternalLegs":{"type":"boolean"},"customData":{"type":"object","additionalProperties":{"type":"string","pattern":"^[^\\u0000\\p{Cs}]*$"},"patternProperties":{"^__proto__$|[\\u0000\\p{Cs}]":false}},"customRequestHeaders":{"type":"object","additionalProperties":{"type":"string","pattern":"^[^\\u0000\\p{Cs}]*$"},"patternProperties":{"^__proto__$|[\\u0000\\p{Cs}]":false}},"group":{"type":"string","maxLength":255,"pattern":"^[^\\u0000\\p{Cs}]*$"},"maxAgeSeconds":{"type":"integer","minimum":1,"maximum":2147483647},"rateLimit":{"type":"number","minimum":0.001,"maximum":10000},"ordering":{"type":"string","enum":["call","strict","none"]}}};
const func2 = (text) => {
let length = 0;
for (const _ of text) length++;
return length;
};
const pattern0 = new RegExp("^[^\\u0000\\p{Cs}]*$", "u");
const pattern1 = new RegExp("^__proto__$|[\\u0000\\p{Cs}]", "u");

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "name"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.uri === undefined){
const err1 = {instancePath,keyword:"required",params:{missingProperty: "uri"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.hook === undefined){
const err2 = {instancePath,keyword:"required",params:{missingProperty: "hook"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 === "string"){
if(func2(data0) > 255){
const err3 = {instancePath:instancePath+"/name",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(func2(data0) < 1){
const err4 = {instancePath:instancePath+"/name",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(!pattern0.test(data0)){
const err5 = {instancePath:instancePath+"/name",keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/name",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.uri !== undefined){
let data1 = data.uri;
if(typeof data1 === "string"){
if(func2(data1) > 2048){
const err7 = {instancePath:instancePath+"/uri",keyword:"maxLength",params:{limit: 2048}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/uri",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.hook !== undefined){
let data2 = data.hook;
if(typeof data2 === "string"){
if(func2(data2) > 64){
const err9 = {instancePath:instancePath+"/hook",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(func2(data2) < 1){
const err10 = {instancePath:instancePath+"/hook",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/hook",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.only !== undefined){
let data3 = data.only;
if(Array.isArray(data3)){
if(data3.length > 100){
const err12 = {instancePath:instancePath+"/only",keyword:"maxItems",params:{limit: 100}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
if(data3.length < 1){
const err13 = {instancePath:instancePath+"/only",keyword:"minItems",params:{limit: 1}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
if(typeof data4 === "string"){
if(func2(data4) > 64){
const err14 = {instancePath:instancePath+"/only/" + i0,keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/only/" + i0,keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
let i1 = data3.length;
let j0;
if(i1 > 1){
const indices0 = {};
for(;i1--;){
let item0 = data3[i1];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err16 = {instancePath:instancePath+"/only",keyword:"uniqueItems",params:{i: i1, j: j0}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
break;
}
indices0[item0] = i1;
}
}
}
else {
const err17 = {instancePath:instancePath+"/only",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.filter !== undefined){
let data5 = data.filter;
if(!(data5 && typeof data5 == "object" && !Array.isArray(data5))){
const err18 = {instancePath:instancePath+"/filter",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.httpVerb !== undefined){
let data6 = data.httpVerb;
if(typeof data6 !== "string"){
const err19 = {instancePath:instancePath+"/httpVerb",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if(!(((((data6 === "get") || (data6 === "post")) || (data6 === "put")) || (data6 === "patch")) || (data6 === "delete"))){
const err20 = {instancePath:instancePath+"/httpVerb",keyword:"enum",params:{allowedValues: schema11.properties.httpVerb.enum}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.retries !== undefined){
let data7 = data.retries;
if(!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))){
const err21 = {instancePath:instancePath+"/retries",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 > 30 || isNaN(data7)){
const err22 = {instancePath:instancePath+"/retries",keyword:"maximum",params:{comparison: "<=", limit: 30}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
if(data7 < 0 || isNaN(data7)){
const err23 = {instancePath:instancePath+"/retries",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
if(data.format !== undefined){
let data8 = data.format;
if(typeof data8 !== "string"){
const err24 = {instancePath:instancePath+"/format",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(!((data8 === "json") || (data8 === "form-data"))){
const err25 = {instancePath:instancePath+"/format",keyword:"enum",params:{allowedValues: schema11.properties.format.enum}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data.enabled !== undefined){
if(typeof data.enabled !== "boolean"){
const err26 = {instancePath:instancePath+"/enabled",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.includeSubaccounts !== undefined){
if(typeof data.includeSubaccounts !== "boolean"){
const err27 = {instancePath:instancePath+"/includeSubaccounts",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.includeInternalLegs !== undefined){
if(typeof data.includeInternalLegs !== "boolean"){
const err28 = {instancePath:instancePath+"/includeInternalLegs",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.customData !== undefined){
let data12 = data.customData;
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
for(const key0 in data12){
if(!(pattern1.test(key0))){
let data13 = data12[key0];
if(typeof data13 === "string"){
if(!pattern0.test(data13)){
const err29 = {instancePath:instancePath+"/customData/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
else {
const err30 = {instancePath:instancePath+"/customData/" + key0.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
}
for(const key1 in data12){
if(pattern1.test(key1)){
const err31 = {instancePath:instancePath+"/customData/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"false schema",params:{}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
}
else {
const err32 = {instancePath:instancePath+"/customData",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.customRequestHeaders !== undefined){
let data15 = data.customRequestHeaders;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
for(const key2 in data15){
if(!(pattern1.test(key2))){
let data16 = data15[key2];
if(typeof data16 === "string"){
if(!pattern0.test(data16)){
const err33 = {instancePath:instancePath+"/customRequestHeaders/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
else {
const err34 = {instancePath:instancePath+"/customRequestHeaders/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
}
for(const key3 in data15){
if(pattern1.test(key3)){
const err35 = {instancePath:instancePath+"/customRequestHeaders/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),keyword:"false schema",params:{}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
}
else {
const err36 = {instancePath:instancePath+"/customRequestHeaders",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.group !== undefined){
let data18 = data.group;
if(typeof data18 === "string"){
if(func2(data18) > 255){
const err37 = {instancePath:instancePath+"/group",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
if(!pattern0.test(data18)){
const err38 = {instancePath:instancePath+"/group",keyword:"pattern",params:{pattern: "^[^\\u0000\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
else {
const err39 = {instancePath:instancePath+"/group",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
if(data.maxAgeSeconds !== undefined){
let data19 = data.maxAgeSeconds;
if(!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))){
const err40 = {instancePath:instancePath+"/maxAgeSeconds",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
if((typeof data19 == "number") && (isFinite(data19))){
if(data19 > 2147483647 || isNaN(data19)){
const err41 = {instancePath:instancePath+"/maxAgeSeconds",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
if(data19 < 1 || isNaN(data19)){
const err42 = {instancePath:instancePath+"/maxAgeSeconds",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
}
if(data.rateLimit !== undefined){
let data20 = data.rateLimit;
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 > 10000 || isNaN(data20)){
const err43 = {instancePath:instancePath+"/rateLimit",keyword:"maximum",params:{comparison: "<=", limit: 10000}};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(data20 < 0.001 || isNaN(data20)){
const err44 = {instancePath:instancePath+"/rateLimit",keyword:"minimum",params:{comparison: ">=", limit: 0.001}};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
else {
const err45 = {instancePath:instancePath+"/rateLimit",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
if(data.ordering !== undefined){
let data21 = data.ordering;
if(typeof data21 !== "string"){
const err46 = {instancePath:instancePath+"/ordering",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
if(!(((data21 === "call") || (data21 === "strict")) || (data21 === "none"))){
const err47 = {instancePath:instancePath+"/ordering",keyword:"enum",params:{allowedValues: schema11.properties.ordering.enum}};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
else {
const err48 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}

export const validateEvent = validate11;
const schema12 = {"type":"object","required":["hook","accountId","callId"],"additionalProperties":false,"properties":{"hook":{"type":"string","minLength":1,"maxLength":64},"accountId":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$"},"callId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"callGroupId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"otherLegCallId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"direction":{"type":"string","enum":["inbound","outbound"]},"timestampMs":{"type":"integer","minimum":0,"maximum":8640000000000000},"from":{"type":"string"},"to":{"type":"string"},"request":{"type":"string"},"inception":{"type":"string"},"callerIdName":{"type":"string"},"callerIdNumber":{"type":"string"},"calleeIdName":{"type":"string"},"calleeIdNumber":{"type":"string"},"answeredBy":{"type":"object","additionalProperties":false,"properties":{"number":{"type":"string"},"name":{"type":"string"},"callId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}}},"endpoint":{"type":"object","additionalProperties":false,"properties":{"kind":{"type":"string","enum":["extension","trunk","gateway"]},"name":{"type":"string"}}},"ownerId":{"type":"string"},"resellerId":{"type":"string"},"authorizingId":{"type":"string"},"authorizingType":{"type":"string"},"callForwarded":{"type":"boolean"},"emergencyResourceUsed":{"type":"boolean"},"localResourceUsed":{"type":"boolean"},"localResourceId":{"type":"string"},"isInternalLeg":{"type":"boolean"},"customChannelVars":{"type":"object"},"customApplicationVars":{"type":"object"},"originalNumber":{"type":"string"},"otherLegDestinationNumber":{"type":"string"},"hangupCause":{"type":"string"},"hangupCode":{"type":"string"},"durationSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"ringingSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"billingSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"durationMs":{"type":"integer","minimum":0,"maximum":2147483647000},"ringingMs":{"type":"integer","minimum":0,"maximum":2147483647000},"billingMs":{"type":"integer","minimum":0,"maximum":2147483647000},"transferType":{"type":"string","enum":["blind","attended"]},"transferTo":{"type":"string"},"targetCallId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"eventName":{"type":"string","enum":["PARK_PARKED","PARK_RETRIEVED","PARK_ABANDONED"]},"parkingSlot":{"type":"string"},"fromUser":{"type":"string"},"fromRealm":{"type":"string"},"toUser":{"type":"string"},"toRealm":{"type":"string"},"voicemailBox":{"type":"string"},"voicemailId":{"type":"string"},"voicemailLengthMs":{"type":"integer","minimum":0,"maximum":2147483647},"callBridged":{"type":"boolean"},"messageLeft":{"type":"boolean"},"queueId":{"type":"string"},"queuePosition":{"type":"integer","minimum":0,"maximum":2147483647},"queueLeaveReason":{"type":"string","enum":["answered","abandoned","timeout","no_agent","key"]},"waitingSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"agentId":{"type":"string"},"agentCallId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"agentNumber":{"type":"string"},"talkingSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"dtmfDigit":{"type":"string"},"dtmfDurationMs":{"type":"integer","minimum":0,"maximum":2147483647},"path":{"type":"string"},"reason":{"type":"string"},"name":{"type":"string"},"member":{"type":"string"},"members":{"type":"integer","minimum":0,"maximum":2147483647},"username":{"type":"string"},"realm":{"type":"string"},"contact":{"type":"string"},"userAgent":{"type":"string"},"expires":{"type":"integer","minimum":0,"maximum":2147483647},"body":{"type":"string"},"status":{"type":"string"},"orderingKey":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"data":{"type":"object"},"documentId":{"type":"string"},"documentType":{"type":"string"},"documentAction":{"type":"string","enum":["doc_created","doc_edited","doc_deleted"]},"idempotencyKey":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}}};
const func9 = Object.prototype.hasOwnProperty;
const pattern8 = new RegExp("^[A-Za-z0-9_-]{1,64}$", "u");
const pattern9 = new RegExp("^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$", "u");

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.hook === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "hook"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.accountId === undefined){
const err1 = {instancePath,keyword:"required",params:{missingProperty: "accountId"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.callId === undefined){
const err2 = {instancePath,keyword:"required",params:{missingProperty: "callId"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func9.call(schema12.properties, key0))){
const err3 = {instancePath,keyword:"additionalProperties",params:{additionalProperty: key0}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.hook !== undefined){
let data0 = data.hook;
if(typeof data0 === "string"){
if(func2(data0) > 64){
const err4 = {instancePath:instancePath+"/hook",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(func2(data0) < 1){
const err5 = {instancePath:instancePath+"/hook",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/hook",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.accountId !== undefined){
let data1 = data.accountId;
if(typeof data1 === "string"){
if(!pattern8.test(data1)){
const err7 = {instancePath:instancePath+"/accountId",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_-]{1,64}$"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/accountId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.callId !== undefined){
let data2 = data.callId;
if(typeof data2 === "string"){
if(func2(data2) > 255){
const err9 = {instancePath:instancePath+"/callId",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(func2(data2) < 1){
const err10 = {instancePath:instancePath+"/callId",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!pattern9.test(data2)){
const err11 = {instancePath:instancePath+"/callId",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/callId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.callGroupId !== undefined){
let data3 = data.callGroupId;
if(typeof data3 === "string"){
if(func2(data3) > 255){
const err13 = {instancePath:instancePath+"/callGroupId",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(func2(data3) < 1){
const err14 = {instancePath:instancePath+"/callGroupId",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!pattern9.test(data3)){
const err15 = {instancePath:instancePath+"/callGroupId",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
else {
const err16 = {instancePath:instancePath+"/callGroupId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.otherLegCallId !== undefined){
let data4 = data.otherLegCallId;
if(typeof data4 === "string"){
if(func2(data4) > 255){
const err17 = {instancePath:instancePath+"/otherLegCallId",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(func2(data4) < 1){
const err18 = {instancePath:instancePath+"/otherLegCallId",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!pattern9.test(data4)){
const err19 = {instancePath:instancePath+"/otherLegCallId",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
else {
const err20 = {instancePath:instancePath+"/otherLegCallId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data.direction !== undefined){
let data5 = data.direction;
if(typeof data5 !== "string"){
const err21 = {instancePath:instancePath+"/direction",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(!((data5 === "inbound") || (data5 === "outbound"))){
const err22 = {instancePath:instancePath+"/direction",keyword:"enum",params:{allowedValues: schema12.properties.direction.enum}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.timestampMs !== undefined){
let data6 = data.timestampMs;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err23 = {instancePath:instancePath+"/timestampMs",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 8640000000000000 || isNaN(data6)){
const err24 = {instancePath:instancePath+"/timestampMs",keyword:"maximum",params:{comparison: "<=", limit: 8640000000000000}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(data6 < 0 || isNaN(data6)){
const err25 = {instancePath:instancePath+"/timestampMs",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
if(data.from !== undefined){
if(typeof data.from !== "string"){
const err26 = {instancePath:instancePath+"/from",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.to !== undefined){
if(typeof data.to !== "string"){
const err27 = {instancePath:instancePath+"/to",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.request !== undefined){
if(typeof data.request !== "string"){
const err28 = {instancePath:instancePath+"/request",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.inception !== undefined){
if(typeof data.inception !== "string"){
const err29 = {instancePath:instancePath+"/inception",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.callerIdName !== undefined){
if(typeof data.callerIdName !== "string"){
const err30 = {instancePath:instancePath+"/callerIdName",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data.callerIdNumber !== undefined){
if(typeof data.callerIdNumber !== "string"){
const err31 = {instancePath:instancePath+"/callerIdNumber",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data.calleeIdName !== undefined){
if(typeof data.calleeIdName !== "string"){
const err32 = {instancePath:instancePath+"/calleeIdName",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.calleeIdNumber !== undefined){
if(typeof data.calleeIdNumber !== "string"){
const err33 = {instancePath:instancePath+"/calleeIdNumber",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data.answeredBy !== undefined){
let data15 = data.answeredBy;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
for(const key1 in data15){
if(!(((key1 === "number") || (key1 === "name")) || (key1 === "callId"))){
const err34 = {instancePath:instancePath+"/answeredBy",keyword:"additionalProperties",params:{additionalProperty: key1}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data15.number !== undefined){
if(typeof data15.number !== "string"){
const err35 = {instancePath:instancePath+"/answeredBy/number",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data15.name !== undefined){
if(typeof data15.name !== "string"){
const err36 = {instancePath:instancePath+"/answeredBy/name",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data15.callId !== undefined){
let data18 = data15.callId;
if(typeof data18 === "string"){
if(func2(data18) > 255){
const err37 = {instancePath:instancePath+"/answeredBy/callId",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
if(func2(data18) < 1){
const err38 = {instancePath:instancePath+"/answeredBy/callId",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if(!pattern9.test(data18)){
const err39 = {instancePath:instancePath+"/answeredBy/callId",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
else {
const err40 = {instancePath:instancePath+"/answeredBy/callId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
else {
const err41 = {instancePath:instancePath+"/answeredBy",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data.endpoint !== undefined){
let data19 = data.endpoint;
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
for(const key2 in data19){
if(!((key2 === "kind") || (key2 === "name"))){
const err42 = {instancePath:instancePath+"/endpoint",keyword:"additionalProperties",params:{additionalProperty: key2}};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data19.kind !== undefined){
let data20 = data19.kind;
if(typeof data20 !== "string"){
const err43 = {instancePath:instancePath+"/endpoint/kind",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if(!(((data20 === "extension") || (data20 === "trunk")) || (data20 === "gateway"))){
const err44 = {instancePath:instancePath+"/endpoint/kind",keyword:"enum",params:{allowedValues: schema12.properties.endpoint.properties.kind.enum}};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data19.name !== undefined){
if(typeof data19.name !== "string"){
const err45 = {instancePath:instancePath+"/endpoint/name",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
}
else {
const err46 = {instancePath:instancePath+"/endpoint",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
if(data.ownerId !== undefined){
if(typeof data.ownerId !== "string"){
const err47 = {instancePath:instancePath+"/ownerId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
if(data.resellerId !== undefined){
if(typeof data.resellerId !== "string"){
const err48 = {instancePath:instancePath+"/resellerId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data.authorizingId !== undefined){
if(typeof data.authorizingId !== "string"){
const err49 = {instancePath:instancePath+"/authorizingId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
if(data.authorizingType !== undefined){
if(typeof data.authorizingType !== "string"){
const err50 = {instancePath:instancePath+"/authorizingType",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
if(data.callForwarded !== undefined){
if(typeof data.callForwarded !== "boolean"){
const err51 = {instancePath:instancePath+"/callForwarded",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
if(data.emergencyResourceUsed !== undefined){
if(typeof data.emergencyResourceUsed !== "boolean"){
const err52 = {instancePath:instancePath+"/emergencyResourceUsed",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
if(data.localResourceUsed !== undefined){
if(typeof data.localResourceUsed !== "boolean"){
const err53 = {instancePath:instancePath+"/localResourceUsed",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
if(data.localResourceId !== undefined){
if(typeof data.localResourceId !== "string"){
const err54 = {instancePath:instancePath+"/localResourceId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
if(data.isInternalLeg !== undefined){
if(typeof data.isInternalLeg !== "boolean"){
const err55 = {instancePath:instancePath+"/isInternalLeg",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
if(data.customChannelVars !== undefined){
let data31 = data.customChannelVars;
if(!(data31 && typeof data31 == "object" && !Array.isArray(data31))){
const err56 = {instancePath:instancePath+"/customChannelVars",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
if(data.customApplicationVars !== undefined){
let data32 = data.customApplicationVars;
if(!(data32 && typeof data32 == "object" && !Array.isArray(data32))){
const err57 = {instancePath:instancePath+"/customApplicationVars",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
if(data.originalNumber !== undefined){
if(typeof data.originalNumber !== "string"){
const err58 = {instancePath:instancePath+"/originalNumber",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
if(data.otherLegDestinationNumber !== undefined){
if(typeof data.otherLegDestinationNumber !== "string"){
const err59 = {instancePath:instancePath+"/otherLegDestinationNumber",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
if(data.hangupCause !== undefined){
if(typeof data.hangupCause !== "string"){
const err60 = {instancePath:instancePath+"/hangupCause",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data.hangupCode !== undefined){
if(typeof data.hangupCode !== "string"){
const err61 = {instancePath:instancePath+"/hangupCode",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
}
if(data.durationSeconds !== undefined){
let data37 = data.durationSeconds;
if(!(((typeof data37 == "number") && (!(data37 % 1) && !isNaN(data37))) && (isFinite(data37)))){
const err62 = {instancePath:instancePath+"/durationSeconds",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
if((typeof data37 == "number") && (isFinite(data37))){
if(data37 > 2147483647 || isNaN(data37)){
const err63 = {instancePath:instancePath+"/durationSeconds",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if(data37 < 0 || isNaN(data37)){
const err64 = {instancePath:instancePath+"/durationSeconds",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
}
}
if(data.ringingSeconds !== undefined){
let data38 = data.ringingSeconds;
if(!(((typeof data38 == "number") && (!(data38 % 1) && !isNaN(data38))) && (isFinite(data38)))){
const err65 = {instancePath:instancePath+"/ringingSeconds",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
if((typeof data38 == "number") && (isFinite(data38))){
if(data38 > 2147483647 || isNaN(data38)){
const err66 = {instancePath:instancePath+"/ringingSeconds",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
if(data38 < 0 || isNaN(data38)){
const err67 = {instancePath:instancePath+"/ringingSeconds",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
}
if(data.billingSeconds !== undefined){
let data39 = data.billingSeconds;
if(!(((typeof data39 == "number") && (!(data39 % 1) && !isNaN(data39))) && (isFinite(data39)))){
const err68 = {instancePath:instancePath+"/billingSeconds",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
if((typeof data39 == "number") && (isFinite(data39))){
if(data39 > 2147483647 || isNaN(data39)){
const err69 = {instancePath:instancePath+"/billingSeconds",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
if(data39 < 0 || isNaN(data39)){
const err70 = {instancePath:instancePath+"/billingSeconds",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
}
if(data.durationMs !== undefined){
let data40 = data.durationMs;
if(!(((typeof data40 == "number") && (!(data40 % 1) && !isNaN(data40))) && (isFinite(data40)))){
const err71 = {instancePath:instancePath+"/durationMs",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
if((typeof data40 == "number") && (isFinite(data40))){
if(data40 > 2147483647000 || isNaN(data40)){
const err72 = {instancePath:instancePath+"/durationMs",keyword:"maximum",params:{comparison: "<=", limit: 2147483647000}};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
if(data40 < 0 || isNaN(data40)){
const err73 = {instancePath:instancePath+"/durationMs",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
}
if(data.ringingMs !== undefined){
let data41 = data.ringingMs;
if(!(((typeof data41 == "number") && (!(data41 % 1) && !isNaN(data41))) && (isFinite(data41)))){
const err74 = {instancePath:instancePath+"/ringingMs",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
if((typeof data41 == "number") && (isFinite(data41))){
if(data41 > 2147483647000 || isNaN(data41)){
const err75 = {instancePath:instancePath+"/ringingMs",keyword:"maximum",params:{comparison: "<=", limit: 2147483647000}};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
if(data41 < 0 || isNaN(data41)){
const err76 = {instancePath:instancePath+"/ringingMs",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
}
if(data.billingMs !== undefined){
let data42 = data.billingMs;
if(!(((typeof data42 == "number") && (!(data42 % 1) && !isNaN(data42))) && (isFinite(data42)))){
const err77 = {instancePath:instancePath+"/billingMs",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
if((typeof data42 == "number") && (isFinite(data42))){
if(data42 > 2147483647000 || isNaN(data42)){
const err78 = {instancePath:instancePath+"/billingMs",keyword:"maximum",params:{comparison: "<=", limit: 2147483647000}};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
if(data42 < 0 || isNaN(data42)){
const err79 = {instancePath:instancePath+"/billingMs",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
}
if(data.transferType !== undefined){
let data43 = data.transferType;
if(typeof data43 !== "string"){
const err80 = {instancePath:instancePath+"/transferType",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
if(!((data43 === "blind") || (data43 === "attended"))){
const err81 = {instancePath:instancePath+"/transferType",keyword:"enum",params:{allowedValues: schema12.properties.transferType.enum}};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
if(data.transferTo !== undefined){
if(typeof data.transferTo !== "string"){
const err82 = {instancePath:instancePath+"/transferTo",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
if(data.targetCallId !== undefined){
let data45 = data.targetCallId;
if(typeof data45 === "string"){
if(func2(data45) > 255){
const err83 = {instancePath:instancePath+"/targetCallId",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
if(func2(data45) < 1){
const err84 = {instancePath:instancePath+"/targetCallId",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
if(!pattern9.test(data45)){
const err85 = {instancePath:instancePath+"/targetCallId",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
else {
const err86 = {instancePath:instancePath+"/targetCallId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
if(data.eventName !== undefined){
let data46 = data.eventName;
if(typeof data46 !== "string"){
const err87 = {instancePath:instancePath+"/eventName",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
if(!(((data46 === "PARK_PARKED") || (data46 === "PARK_RETRIEVED")) || (data46 === "PARK_ABANDONED"))){
const err88 = {instancePath:instancePath+"/eventName",keyword:"enum",params:{allowedValues: schema12.properties.eventName.enum}};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
if(data.parkingSlot !== undefined){
if(typeof data.parkingSlot !== "string"){
const err89 = {instancePath:instancePath+"/parkingSlot",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
}
if(data.fromUser !== undefined){
if(typeof data.fromUser !== "string"){
const err90 = {instancePath:instancePath+"/fromUser",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
if(data.fromRealm !== undefined){
if(typeof data.fromRealm !== "string"){
const err91 = {instancePath:instancePath+"/fromRealm",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
if(data.toUser !== undefined){
if(typeof data.toUser !== "string"){
const err92 = {instancePath:instancePath+"/toUser",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
if(data.toRealm !== undefined){
if(typeof data.toRealm !== "string"){
const err93 = {instancePath:instancePath+"/toRealm",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
if(data.voicemailBox !== undefined){
if(typeof data.voicemailBox !== "string"){
const err94 = {instancePath:instancePath+"/voicemailBox",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
if(data.voicemailId !== undefined){
if(typeof data.voicemailId !== "string"){
const err95 = {instancePath:instancePath+"/voicemailId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
if(data.voicemailLengthMs !== undefined){
let data54 = data.voicemailLengthMs;
if(!(((typeof data54 == "number") && (!(data54 % 1) && !isNaN(data54))) && (isFinite(data54)))){
const err96 = {instancePath:instancePath+"/voicemailLengthMs",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
if((typeof data54 == "number") && (isFinite(data54))){
if(data54 > 2147483647 || isNaN(data54)){
const err97 = {instancePath:instancePath+"/voicemailLengthMs",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
if(data54 < 0 || isNaN(data54)){
const err98 = {instancePath:instancePath+"/voicemailLengthMs",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
}
if(data.callBridged !== undefined){
if(typeof data.callBridged !== "boolean"){
const err99 = {instancePath:instancePath+"/callBridged",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
if(data.messageLeft !== undefined){
if(typeof data.messageLeft !== "boolean"){
const err100 = {instancePath:instancePath+"/messageLeft",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data.queueId !== undefined){
if(typeof data.queueId !== "string"){
const err101 = {instancePath:instancePath+"/queueId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
if(data.queuePosition !== undefined){
let data58 = data.queuePosition;
if(!(((typeof data58 == "number") && (!(data58 % 1) && !isNaN(data58))) && (isFinite(data58)))){
const err102 = {instancePath:instancePath+"/queuePosition",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
if((typeof data58 == "number") && (isFinite(data58))){
if(data58 > 2147483647 || isNaN(data58)){
const err103 = {instancePath:instancePath+"/queuePosition",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
if(data58 < 0 || isNaN(data58)){
const err104 = {instancePath:instancePath+"/queuePosition",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
}
if(data.queueLeaveReason !== undefined){
let data59 = data.queueLeaveReason;
if(typeof data59 !== "string"){
const err105 = {instancePath:instancePath+"/queueLeaveReason",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
if(!(((((data59 === "answered") || (data59 === "abandoned")) || (data59 === "timeout")) || (data59 === "no_agent")) || (data59 === "key"))){
const err106 = {instancePath:instancePath+"/queueLeaveReason",keyword:"enum",params:{allowedValues: schema12.properties.queueLeaveReason.enum}};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
if(data.waitingSeconds !== undefined){
let data60 = data.waitingSeconds;
if(!(((typeof data60 == "number") && (!(data60 % 1) && !isNaN(data60))) && (isFinite(data60)))){
const err107 = {instancePath:instancePath+"/waitingSeconds",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
if((typeof data60 == "number") && (isFinite(data60))){
if(data60 > 2147483647 || isNaN(data60)){
const err108 = {instancePath:instancePath+"/waitingSeconds",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
if(data60 < 0 || isNaN(data60)){
const err109 = {instancePath:instancePath+"/waitingSeconds",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
}
if(data.agentId !== undefined){
if(typeof data.agentId !== "string"){
const err110 = {instancePath:instancePath+"/agentId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
if(data.agentCallId !== undefined){
let data62 = data.agentCallId;
if(typeof data62 === "string"){
if(func2(data62) > 255){
const err111 = {instancePath:instancePath+"/agentCallId",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
if(func2(data62) < 1){
const err112 = {instancePath:instancePath+"/agentCallId",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
if(!pattern9.test(data62)){
const err113 = {instancePath:instancePath+"/agentCallId",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
}
else {
const err114 = {instancePath:instancePath+"/agentCallId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
if(data.agentNumber !== undefined){
if(typeof data.agentNumber !== "string"){
const err115 = {instancePath:instancePath+"/agentNumber",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
}
if(data.talkingSeconds !== undefined){
let data64 = data.talkingSeconds;
if(!(((typeof data64 == "number") && (!(data64 % 1) && !isNaN(data64))) && (isFinite(data64)))){
const err116 = {instancePath:instancePath+"/talkingSeconds",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
if((typeof data64 == "number") && (isFinite(data64))){
if(data64 > 2147483647 || isNaN(data64)){
const err117 = {instancePath:instancePath+"/talkingSeconds",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
if(data64 < 0 || isNaN(data64)){
const err118 = {instancePath:instancePath+"/talkingSeconds",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
}
if(data.dtmfDigit !== undefined){
if(typeof data.dtmfDigit !== "string"){
const err119 = {instancePath:instancePath+"/dtmfDigit",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
}
if(data.dtmfDurationMs !== undefined){
let data66 = data.dtmfDurationMs;
if(!(((typeof data66 == "number") && (!(data66 % 1) && !isNaN(data66))) && (isFinite(data66)))){
const err120 = {instancePath:instancePath+"/dtmfDurationMs",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
if((typeof data66 == "number") && (isFinite(data66))){
if(data66 > 2147483647 || isNaN(data66)){
const err121 = {instancePath:instancePath+"/dtmfDurationMs",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
if(data66 < 0 || isNaN(data66)){
const err122 = {instancePath:instancePath+"/dtmfDurationMs",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
}
if(data.path !== undefined){
if(typeof data.path !== "string"){
const err123 = {instancePath:instancePath+"/path",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
if(data.reason !== undefined){
if(typeof data.reason !== "string"){
const err124 = {instancePath:instancePath+"/reason",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
}
if(data.name !== undefined){
if(typeof data.name !== "string"){
const err125 = {instancePath:instancePath+"/name",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
if(data.member !== undefined){
if(typeof data.member !== "string"){
const err126 = {instancePath:instancePath+"/member",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
}
if(data.members !== undefined){
let data71 = data.members;
if(!(((typeof data71 == "number") && (!(data71 % 1) && !isNaN(data71))) && (isFinite(data71)))){
const err127 = {instancePath:instancePath+"/members",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
if((typeof data71 == "number") && (isFinite(data71))){
if(data71 > 2147483647 || isNaN(data71)){
const err128 = {instancePath:instancePath+"/members",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
if(data71 < 0 || isNaN(data71)){
const err129 = {instancePath:instancePath+"/members",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
}
}
if(data.username !== undefined){
if(typeof data.username !== "string"){
const err130 = {instancePath:instancePath+"/username",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
}
if(data.realm !== undefined){
if(typeof data.realm !== "string"){
const err131 = {instancePath:instancePath+"/realm",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
if(data.contact !== undefined){
if(typeof data.contact !== "string"){
const err132 = {instancePath:instancePath+"/contact",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
if(data.userAgent !== undefined){
if(typeof data.userAgent !== "string"){
const err133 = {instancePath:instancePath+"/userAgent",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
if(data.expires !== undefined){
let data76 = data.expires;
if(!(((typeof data76 == "number") && (!(data76 % 1) && !isNaN(data76))) && (isFinite(data76)))){
const err134 = {instancePath:instancePath+"/expires",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
if((typeof data76 == "number") && (isFinite(data76))){
if(data76 > 2147483647 || isNaN(data76)){
const err135 = {instancePath:instancePath+"/expires",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
if(data76 < 0 || isNaN(data76)){
const err136 = {instancePath:instancePath+"/expires",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
}
}
if(data.body !== undefined){
if(typeof data.body !== "string"){
const err137 = {instancePath:instancePath+"/body",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
}
if(data.status !== undefined){
if(typeof data.status !== "string"){
const err138 = {instancePath:instancePath+"/status",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
}
if(data.orderingKey !== undefined){
let data79 = data.orderingKey;
if(typeof data79 === "string"){
if(func2(data79) > 255){
const err139 = {instancePath:instancePath+"/orderingKey",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
if(func2(data79) < 1){
const err140 = {instancePath:instancePath+"/orderingKey",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
if(!pattern9.test(data79)){
const err141 = {instancePath:instancePath+"/orderingKey",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
}
else {
const err142 = {instancePath:instancePath+"/orderingKey",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
if(data.data !== undefined){
let data80 = data.data;
if(!(data80 && typeof data80 == "object" && !Array.isArray(data80))){
const err143 = {instancePath:instancePath+"/data",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
if(data.documentId !== undefined){
if(typeof data.documentId !== "string"){
const err144 = {instancePath:instancePath+"/documentId",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
if(data.documentType !== undefined){
if(typeof data.documentType !== "string"){
const err145 = {instancePath:instancePath+"/documentType",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
}
if(data.documentAction !== undefined){
let data83 = data.documentAction;
if(typeof data83 !== "string"){
const err146 = {instancePath:instancePath+"/documentAction",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
if(!(((data83 === "doc_created") || (data83 === "doc_edited")) || (data83 === "doc_deleted"))){
const err147 = {instancePath:instancePath+"/documentAction",keyword:"enum",params:{allowedValues: schema12.properties.documentAction.enum}};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
}
if(data.idempotencyKey !== undefined){
let data84 = data.idempotencyKey;
if(typeof data84 === "string"){
if(func2(data84) > 255){
const err148 = {instancePath:instancePath+"/idempotencyKey",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
if(func2(data84) < 1){
const err149 = {instancePath:instancePath+"/idempotencyKey",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
if(!pattern9.test(data84)){
const err150 = {instancePath:instancePath+"/idempotencyKey",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
}
else {
const err151 = {instancePath:instancePath+"/idempotencyKey",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
}
}
}
else {
const err152 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
validate11.errors = vErrors;
return errors === 0;
}

export const validateAccount = validate12;
const schema13 = {"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":128,"pattern":"^[^\\p{Cc}\\p{Cs}]*$"},"realm":{"type":"string","minLength":4,"maxLength":253,"pattern":"^[.\\w-]+$"},"enabled":{"type":"boolean"},"timezone":{"type":"string","minLength":5,"maxLength":32,"pattern":"^[^\\p{Cc}\\p{Cs}]*$"},"language":{"type":"string","maxLength":35,"pattern":"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"},"flags":{"type":"array","items":{"type":"string"}}}};
const pattern17 = new RegExp("^[^\\p{Cc}\\p{Cs}]*$", "u");
const pattern18 = new RegExp("^[.\\w-]+$", "u");
const pattern20 = new RegExp("^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", "u");

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.name === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "name"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.name !== undefined){
let data0 = data.name;
if(typeof data0 === "string"){
if(func2(data0) > 128){
const err1 = {instancePath:instancePath+"/name",keyword:"maxLength",params:{limit: 128}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(func2(data0) < 1){
const err2 = {instancePath:instancePath+"/name",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!pattern17.test(data0)){
const err3 = {instancePath:instancePath+"/name",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/name",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.realm !== undefined){
let data1 = data.realm;
if(typeof data1 === "string"){
if(func2(data1) > 253){
const err5 = {instancePath:instancePath+"/realm",keyword:"maxLength",params:{limit: 253}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(func2(data1) < 4){
const err6 = {instancePath:instancePath+"/realm",keyword:"minLength",params:{limit: 4}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(!pattern18.test(data1)){
const err7 = {instancePath:instancePath+"/realm",keyword:"pattern",params:{pattern: "^[.\\w-]+$"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/realm",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.enabled !== undefined){
if(typeof data.enabled !== "boolean"){
const err9 = {instancePath:instancePath+"/enabled",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.timezone !== undefined){
let data3 = data.timezone;
if(typeof data3 === "string"){
if(func2(data3) > 32){
const err10 = {instancePath:instancePath+"/timezone",keyword:"maxLength",params:{limit: 32}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(func2(data3) < 5){
const err11 = {instancePath:instancePath+"/timezone",keyword:"minLength",params:{limit: 5}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!pattern17.test(data3)){
const err12 = {instancePath:instancePath+"/timezone",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}]*$"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/timezone",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.language !== undefined){
let data4 = data.language;
if(typeof data4 === "string"){
if(func2(data4) > 35){
const err14 = {instancePath:instancePath+"/language",keyword:"maxLength",params:{limit: 35}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!pattern20.test(data4)){
const err15 = {instancePath:instancePath+"/language",keyword:"pattern",params:{pattern: "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
else {
const err16 = {instancePath:instancePath+"/language",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.flags !== undefined){
let data5 = data.flags;
if(Array.isArray(data5)){
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
if(typeof data5[i0] !== "string"){
const err17 = {instancePath:instancePath+"/flags/" + i0,keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath:instancePath+"/flags",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
}
else {
const err19 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
validate12.errors = vErrors;
return errors === 0;
}

export const validateUser = validate13;
const schema14 = {"type":"object","required":["firstName","lastName"],"properties":{"firstName":{"type":"string","minLength":1,"maxLength":128},"lastName":{"type":"string","minLength":1,"maxLength":128},"username":{"type":"string","minLength":1,"maxLength":256,"pattern":"^[+@.\\w-]+$"},"password":{"type":"string","maxLength":1024,"writeOnly":true},"email":{"type":"string","minLength":3,"maxLength":254},"enabled":{"type":"boolean"},"privLevel":{"type":"string","enum":["user","admin"]},"timezone":{"type":"string","maxLength":64},"language":{"type":"string","maxLength":64},"requirePasswordUpdate":{"type":"boolean"},"verified":{"type":"boolean"}}};
const pattern21 = new RegExp("^[+@.\\w-]+$", "u");

function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.firstName === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "firstName"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.lastName === undefined){
const err1 = {instancePath,keyword:"required",params:{missingProperty: "lastName"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.firstName !== undefined){
let data0 = data.firstName;
if(typeof data0 === "string"){
if(func2(data0) > 128){
const err2 = {instancePath:instancePath+"/firstName",keyword:"maxLength",params:{limit: 128}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func2(data0) < 1){
const err3 = {instancePath:instancePath+"/firstName",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/firstName",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.lastName !== undefined){
let data1 = data.lastName;
if(typeof data1 === "string"){
if(func2(data1) > 128){
const err5 = {instancePath:instancePath+"/lastName",keyword:"maxLength",params:{limit: 128}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(func2(data1) < 1){
const err6 = {instancePath:instancePath+"/lastName",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
else {
const err7 = {instancePath:instancePath+"/lastName",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.username !== undefined){
let data2 = data.username;
if(typeof data2 === "string"){
if(func2(data2) > 256){
const err8 = {instancePath:instancePath+"/username",keyword:"maxLength",params:{limit: 256}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
if(func2(data2) < 1){
const err9 = {instancePath:instancePath+"/username",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(!pattern21.test(data2)){
const err10 = {instancePath:instancePath+"/username",keyword:"pattern",params:{pattern: "^[+@.\\w-]+$"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/username",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data.password !== undefined){
let data3 = data.password;
if(typeof data3 === "string"){
if(func2(data3) > 1024){
const err12 = {instancePath:instancePath+"/password",keyword:"maxLength",params:{limit: 1024}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
else {
const err13 = {instancePath:instancePath+"/password",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data.email !== undefined){
let data4 = data.email;
if(typeof data4 === "string"){
if(func2(data4) > 254){
const err14 = {instancePath:instancePath+"/email",keyword:"maxLength",params:{limit: 254}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(func2(data4) < 3){
const err15 = {instancePath:instancePath+"/email",keyword:"minLength",params:{limit: 3}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
else {
const err16 = {instancePath:instancePath+"/email",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.enabled !== undefined){
if(typeof data.enabled !== "boolean"){
const err17 = {instancePath:instancePath+"/enabled",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
if(data.privLevel !== undefined){
let data6 = data.privLevel;
if(typeof data6 !== "string"){
const err18 = {instancePath:instancePath+"/privLevel",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!((data6 === "user") || (data6 === "admin"))){
const err19 = {instancePath:instancePath+"/privLevel",keyword:"enum",params:{allowedValues: schema14.properties.privLevel.enum}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data.timezone !== undefined){
let data7 = data.timezone;
if(typeof data7 === "string"){
if(func2(data7) > 64){
const err20 = {instancePath:instancePath+"/timezone",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/timezone",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data.language !== undefined){
let data8 = data.language;
if(typeof data8 === "string"){
if(func2(data8) > 64){
const err22 = {instancePath:instancePath+"/language",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/language",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data.requirePasswordUpdate !== undefined){
if(typeof data.requirePasswordUpdate !== "boolean"){
const err24 = {instancePath:instancePath+"/requirePasswordUpdate",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.verified !== undefined){
if(typeof data.verified !== "boolean"){
const err25 = {instancePath:instancePath+"/verified",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
}
else {
const err26 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
validate13.errors = vErrors;
return errors === 0;
}

export const validateApiAuth = validate14;
const schema15 = {"type":"object","required":["api_key"],"properties":{"api_key":{"type":"string"}}};

function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.api_key === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "api_key"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.api_key !== undefined){
if(typeof data.api_key !== "string"){
const err1 = {instancePath:instancePath+"/api_key",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
}
else {
const err2 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
validate14.errors = vErrors;
return errors === 0;
}

export const validateUserAuth = validate15;
const schema16 = {"type":"object","required":["credentials"],"if":{"not":{"anyOf":[{"required":["realm"]},{"required":["account_name"]}]}},"then":{"required":["account_realm"]},"properties":{"credentials":{"type":"string"},"account_realm":{"type":"string"},"realm":{"type":"string"},"account_name":{"type":"string"},"method":{"type":"string","enum":["md5","sha"]}}};

function validate15(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
const _errs1 = errors;
let valid0 = true;
const _errs2 = errors;
const _errs3 = errors;
const _errs4 = errors;
const _errs5 = errors;
let valid2 = false;
const _errs6 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.realm === undefined) && (missing0 = "realm")){
const err0 = {};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
var _valid1 = _errs6 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs7 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
let missing1;
if((data.account_name === undefined) && (missing1 = "account_name")){
const err1 = {};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
var _valid1 = _errs7 === errors;
valid2 = valid2 || _valid1;
}
if(!valid2){
const err2 = {};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
else {
errors = _errs5;
if(vErrors !== null){
if(_errs5){
vErrors.length = _errs5;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs4 === errors;
if(valid1){
const err3 = {};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
else {
errors = _errs3;
if(vErrors !== null){
if(_errs3){
vErrors.length = _errs3;
}
else {
vErrors = null;
}
}
}
var _valid0 = _errs2 === errors;
errors = _errs1;
if(vErrors !== null){
if(_errs1){
vErrors.length = _errs1;
}
else {
vErrors = null;
}
}
if(_valid0){
const _errs8 = errors;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.account_realm === undefined){
const err4 = {instancePath,keyword:"required",params:{missingProperty: "account_realm"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
var _valid0 = _errs8 === errors;
valid0 = _valid0;
}
if(!valid0){
const err5 = {instancePath,keyword:"if",params:{failingKeyword: "then"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.credentials === undefined){
const err6 = {instancePath,keyword:"required",params:{missingProperty: "credentials"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if(data.credentials !== undefined){
if(typeof data.credentials !== "string"){
const err7 = {instancePath:instancePath+"/credentials",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data.account_realm !== undefined){
if(typeof data.account_realm !== "string"){
const err8 = {instancePath:instancePath+"/account_realm",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data.realm !== undefined){
if(typeof data.realm !== "string"){
const err9 = {instancePath:instancePath+"/realm",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.account_name !== undefined){
if(typeof data.account_name !== "string"){
const err10 = {instancePath:instancePath+"/account_name",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data.method !== undefined){
let data4 = data.method;
if(typeof data4 !== "string"){
const err11 = {instancePath:instancePath+"/method",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
if(!((data4 === "md5") || (data4 === "sha"))){
const err12 = {instancePath:instancePath+"/method",keyword:"enum",params:{allowedValues: schema16.properties.method.enum}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate15.errors = vErrors;
return errors === 0;
}

export const validateReenable = validate16;
const schema17 = {"type":"object","required":["re-enable"],"properties":{"re-enable":{"type":"boolean","enum":[true]}}};

function validate16(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data["re-enable"] === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "re-enable"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data["re-enable"] !== undefined){
let data0 = data["re-enable"];
if(typeof data0 !== "boolean"){
const err1 = {instancePath:instancePath+"/re-enable",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(data0 === true)){
const err2 = {instancePath:instancePath+"/re-enable",keyword:"enum",params:{allowedValues: schema17.properties["re-enable"].enum}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate16.errors = vErrors;
return errors === 0;
}

export const validateReplay = validate17;
const schema18 = {"type":"object","properties":{"delivery_id":{"type":"string"},"created_from":{},"created_to":{},"result":{"type":"string","enum":["failure","success","delivered","exhausted","expired","cancelled","quarantined"]},"hook":{"type":"string"},"reason":{"type":"string","minLength":1,"maxLength":256},"call_id":{"type":"string","minLength":1,"maxLength":256},"number":{"type":"string","minLength":1,"maxLength":256},"host":{"type":"string","minLength":1,"maxLength":256},"include_recovered":{"type":"boolean"},"dry_run":{"type":"boolean"}}};

function validate17(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.delivery_id !== undefined){
if(typeof data.delivery_id !== "string"){
const err0 = {instancePath:instancePath+"/delivery_id",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.result !== undefined){
let data1 = data.result;
if(typeof data1 !== "string"){
const err1 = {instancePath:instancePath+"/result",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(((((((data1 === "failure") || (data1 === "success")) || (data1 === "delivered")) || (data1 === "exhausted")) || (data1 === "expired")) || (data1 === "cancelled")) || (data1 === "quarantined"))){
const err2 = {instancePath:instancePath+"/result",keyword:"enum",params:{allowedValues: schema18.properties.result.enum}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.hook !== undefined){
if(typeof data.hook !== "string"){
const err3 = {instancePath:instancePath+"/hook",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.reason !== undefined){
let data3 = data.reason;
if(typeof data3 === "string"){
if(func2(data3) > 256){
const err4 = {instancePath:instancePath+"/reason",keyword:"maxLength",params:{limit: 256}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(func2(data3) < 1){
const err5 = {instancePath:instancePath+"/reason",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/reason",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.call_id !== undefined){
let data4 = data.call_id;
if(typeof data4 === "string"){
if(func2(data4) > 256){
const err7 = {instancePath:instancePath+"/call_id",keyword:"maxLength",params:{limit: 256}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(func2(data4) < 1){
const err8 = {instancePath:instancePath+"/call_id",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
else {
const err9 = {instancePath:instancePath+"/call_id",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data.number !== undefined){
let data5 = data.number;
if(typeof data5 === "string"){
if(func2(data5) > 256){
const err10 = {instancePath:instancePath+"/number",keyword:"maxLength",params:{limit: 256}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(func2(data5) < 1){
const err11 = {instancePath:instancePath+"/number",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
else {
const err12 = {instancePath:instancePath+"/number",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.host !== undefined){
let data6 = data.host;
if(typeof data6 === "string"){
if(func2(data6) > 256){
const err13 = {instancePath:instancePath+"/host",keyword:"maxLength",params:{limit: 256}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(func2(data6) < 1){
const err14 = {instancePath:instancePath+"/host",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/host",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
if(data.include_recovered !== undefined){
if(typeof data.include_recovered !== "boolean"){
const err16 = {instancePath:instancePath+"/include_recovered",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.dry_run !== undefined){
if(typeof data.dry_run !== "boolean"){
const err17 = {instancePath:instancePath+"/dry_run",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
validate17.errors = vErrors;
return errors === 0;
}

export const validateReplayState = validate18;
const schema19 = {"type":"object","required":["state"],"properties":{"state":{"type":"string","enum":["running","paused","cancelled"]}}};

function validate18(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.state === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "state"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.state !== undefined){
let data0 = data.state;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/state",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!(((data0 === "running") || (data0 === "paused")) || (data0 === "cancelled"))){
const err2 = {instancePath:instancePath+"/state",keyword:"enum",params:{allowedValues: schema19.properties.state.enum}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate18.errors = vErrors;
return errors === 0;
}

export const validateHold = validate19;
const schema20 = {"type":"object","required":["held"],"additionalProperties":false,"properties":{"held":{"type":"boolean"},"account_id":{"type":"string"},"dry_run":{"type":"boolean"}}};

function validate19(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.held === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "held"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((key0 === "held") || (key0 === "account_id")) || (key0 === "dry_run"))){
const err1 = {instancePath,keyword:"additionalProperties",params:{additionalProperty: key0}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.held !== undefined){
if(typeof data.held !== "boolean"){
const err2 = {instancePath:instancePath+"/held",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
if(data.account_id !== undefined){
if(typeof data.account_id !== "string"){
const err3 = {instancePath:instancePath+"/account_id",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.dry_run !== undefined){
if(typeof data.dry_run !== "boolean"){
const err4 = {instancePath:instancePath+"/dry_run",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate19.errors = vErrors;
return errors === 0;
}

export const validateWhy = validate20;
const schema21 = {"type":"object","required":["q"],"additionalProperties":false,"properties":{"q":{"type":"string","minLength":1,"maxLength":255}}};

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.q === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "q"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(key0 === "q")){
const err1 = {instancePath,keyword:"additionalProperties",params:{additionalProperty: key0}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.q !== undefined){
let data0 = data.q;
if(typeof data0 === "string"){
if(func2(data0) > 255){
const err2 = {instancePath:instancePath+"/q",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(func2(data0) < 1){
const err3 = {instancePath:instancePath+"/q",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
else {
const err4 = {instancePath:instancePath+"/q",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
}
else {
const err5 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
validate20.errors = vErrors;
return errors === 0;
}

export const validateWebhookJob = validate21;
const schema22 = {"type":"object","required":["action"],"additionalProperties":false,"properties":{"action":{"type":"string","enum":["resume","reenable"]},"account_id":{"type":"string"},"cause":{"type":"string"},"host":{"type":"string"},"since":{},"until":{},"dry_run":{"type":"boolean"}}};

function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.action === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "action"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
for(const key0 in data){
if(!(((((((key0 === "action") || (key0 === "account_id")) || (key0 === "cause")) || (key0 === "host")) || (key0 === "since")) || (key0 === "until")) || (key0 === "dry_run"))){
const err1 = {instancePath,keyword:"additionalProperties",params:{additionalProperty: key0}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.action !== undefined){
let data0 = data.action;
if(typeof data0 !== "string"){
const err2 = {instancePath:instancePath+"/action",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if(!((data0 === "resume") || (data0 === "reenable"))){
const err3 = {instancePath:instancePath+"/action",keyword:"enum",params:{allowedValues: schema22.properties.action.enum}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.account_id !== undefined){
if(typeof data.account_id !== "string"){
const err4 = {instancePath:instancePath+"/account_id",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.cause !== undefined){
if(typeof data.cause !== "string"){
const err5 = {instancePath:instancePath+"/cause",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.host !== undefined){
if(typeof data.host !== "string"){
const err6 = {instancePath:instancePath+"/host",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data.dry_run !== undefined){
if(typeof data.dry_run !== "boolean"){
const err7 = {instancePath:instancePath+"/dry_run",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
}
else {
const err8 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
validate21.errors = vErrors;
return errors === 0;
}

export const validatePreview = validate22;
const schema23 = {"type":"object","required":["webhook"],"properties":{"webhook":{"type":"object"},"hook":{"type":"string"}}};

function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.webhook === undefined){
const err0 = {instancePath,keyword:"required",params:{missingProperty: "webhook"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.webhook !== undefined){
let data0 = data.webhook;
if(!(data0 && typeof data0 == "object" && !Array.isArray(data0))){
const err1 = {instancePath:instancePath+"/webhook",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.hook !== undefined){
if(typeof data.hook !== "string"){
const err2 = {instancePath:instancePath+"/hook",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
else {
const err3 = {instancePath,keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
validate22.errors = vErrors;
return errors === 0;
}
