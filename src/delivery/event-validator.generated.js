// Made by "npm run generate" from the schemas in the sources. Do not edit.
"use strict";
export const validateEvent = validate10;
const schema11 = {"type":"object","required":["hook","accountId","callId"],"additionalProperties":false,"properties":{"hook":{"type":"string","minLength":1,"maxLength":64},"accountId":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$"},"callId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"otherLegCallId":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"},"direction":{"type":"string","enum":["inbound","outbound"]},"timestampMs":{"type":"integer","minimum":0,"maximum":8640000000000000},"from":{"type":"string"},"to":{"type":"string"},"request":{"type":"string"},"inception":{"type":"string"},"callerIdName":{"type":"string"},"callerIdNumber":{"type":"string"},"calleeIdName":{"type":"string"},"calleeIdNumber":{"type":"string"},"ownerId":{"type":"string"},"resellerId":{"type":"string"},"authorizingId":{"type":"string"},"authorizingType":{"type":"string"},"callForwarded":{"type":"boolean"},"emergencyResourceUsed":{"type":"boolean"},"localResourceUsed":{"type":"boolean"},"localResourceId":{"type":"string"},"isInternalLeg":{"type":"boolean"},"customChannelVars":{"type":"object"},"customApplicationVars":{"type":"object"},"originalNumber":{"type":"string"},"otherLegDestinationNumber":{"type":"string"},"hangupCause":{"type":"string"},"hangupCode":{"type":"string"},"durationSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"ringingSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"billingSeconds":{"type":"integer","minimum":0,"maximum":2147483647},"idempotencyKey":{"type":"string","minLength":1,"maxLength":255,"pattern":"^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}}};
const func2 = Object.prototype.hasOwnProperty;
const func3 = (text) => {
let length = 0;
for (const _ of text) length++;
return length;
};
const pattern0 = new RegExp("^[A-Za-z0-9_-]{1,64}$", "u");
const pattern1 = new RegExp("^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$", "u");

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.hook === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "hook"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.accountId === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "accountId"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.callId === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "callId"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func2.call(schema11.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0}};
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
if(func3(data0) > 64){
const err4 = {instancePath:instancePath+"/hook",schemaPath:"#/properties/hook/maxLength",keyword:"maxLength",params:{limit: 64}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(func3(data0) < 1){
const err5 = {instancePath:instancePath+"/hook",schemaPath:"#/properties/hook/minLength",keyword:"minLength",params:{limit: 1}};
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
const err6 = {instancePath:instancePath+"/hook",schemaPath:"#/properties/hook/type",keyword:"type",params:{type: "string"}};
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
if(!pattern0.test(data1)){
const err7 = {instancePath:instancePath+"/accountId",schemaPath:"#/properties/accountId/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_-]{1,64}$"}};
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
const err8 = {instancePath:instancePath+"/accountId",schemaPath:"#/properties/accountId/type",keyword:"type",params:{type: "string"}};
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
if(func3(data2) > 255){
const err9 = {instancePath:instancePath+"/callId",schemaPath:"#/properties/callId/maxLength",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(func3(data2) < 1){
const err10 = {instancePath:instancePath+"/callId",schemaPath:"#/properties/callId/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(!pattern1.test(data2)){
const err11 = {instancePath:instancePath+"/callId",schemaPath:"#/properties/callId/pattern",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
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
const err12 = {instancePath:instancePath+"/callId",schemaPath:"#/properties/callId/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data.otherLegCallId !== undefined){
let data3 = data.otherLegCallId;
if(typeof data3 === "string"){
if(func3(data3) > 255){
const err13 = {instancePath:instancePath+"/otherLegCallId",schemaPath:"#/properties/otherLegCallId/maxLength",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
if(func3(data3) < 1){
const err14 = {instancePath:instancePath+"/otherLegCallId",schemaPath:"#/properties/otherLegCallId/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(!pattern1.test(data3)){
const err15 = {instancePath:instancePath+"/otherLegCallId",schemaPath:"#/properties/otherLegCallId/pattern",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
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
const err16 = {instancePath:instancePath+"/otherLegCallId",schemaPath:"#/properties/otherLegCallId/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data.direction !== undefined){
let data4 = data.direction;
if(typeof data4 !== "string"){
const err17 = {instancePath:instancePath+"/direction",schemaPath:"#/properties/direction/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(!((data4 === "inbound") || (data4 === "outbound"))){
const err18 = {instancePath:instancePath+"/direction",schemaPath:"#/properties/direction/enum",keyword:"enum",params:{allowedValues: schema11.properties.direction.enum}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.timestampMs !== undefined){
let data5 = data.timestampMs;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err19 = {instancePath:instancePath+"/timestampMs",schemaPath:"#/properties/timestampMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 8640000000000000 || isNaN(data5)){
const err20 = {instancePath:instancePath+"/timestampMs",schemaPath:"#/properties/timestampMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 8640000000000000}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
if(data5 < 0 || isNaN(data5)){
const err21 = {instancePath:instancePath+"/timestampMs",schemaPath:"#/properties/timestampMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
}
if(data.from !== undefined){
if(typeof data.from !== "string"){
const err22 = {instancePath:instancePath+"/from",schemaPath:"#/properties/from/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data.to !== undefined){
if(typeof data.to !== "string"){
const err23 = {instancePath:instancePath+"/to",schemaPath:"#/properties/to/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
if(data.request !== undefined){
if(typeof data.request !== "string"){
const err24 = {instancePath:instancePath+"/request",schemaPath:"#/properties/request/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data.inception !== undefined){
if(typeof data.inception !== "string"){
const err25 = {instancePath:instancePath+"/inception",schemaPath:"#/properties/inception/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
if(data.callerIdName !== undefined){
if(typeof data.callerIdName !== "string"){
const err26 = {instancePath:instancePath+"/callerIdName",schemaPath:"#/properties/callerIdName/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data.callerIdNumber !== undefined){
if(typeof data.callerIdNumber !== "string"){
const err27 = {instancePath:instancePath+"/callerIdNumber",schemaPath:"#/properties/callerIdNumber/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
if(data.calleeIdName !== undefined){
if(typeof data.calleeIdName !== "string"){
const err28 = {instancePath:instancePath+"/calleeIdName",schemaPath:"#/properties/calleeIdName/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data.calleeIdNumber !== undefined){
if(typeof data.calleeIdNumber !== "string"){
const err29 = {instancePath:instancePath+"/calleeIdNumber",schemaPath:"#/properties/calleeIdNumber/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
if(data.ownerId !== undefined){
if(typeof data.ownerId !== "string"){
const err30 = {instancePath:instancePath+"/ownerId",schemaPath:"#/properties/ownerId/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data.resellerId !== undefined){
if(typeof data.resellerId !== "string"){
const err31 = {instancePath:instancePath+"/resellerId",schemaPath:"#/properties/resellerId/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data.authorizingId !== undefined){
if(typeof data.authorizingId !== "string"){
const err32 = {instancePath:instancePath+"/authorizingId",schemaPath:"#/properties/authorizingId/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data.authorizingType !== undefined){
if(typeof data.authorizingType !== "string"){
const err33 = {instancePath:instancePath+"/authorizingType",schemaPath:"#/properties/authorizingType/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
}
if(data.callForwarded !== undefined){
if(typeof data.callForwarded !== "boolean"){
const err34 = {instancePath:instancePath+"/callForwarded",schemaPath:"#/properties/callForwarded/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
if(data.emergencyResourceUsed !== undefined){
if(typeof data.emergencyResourceUsed !== "boolean"){
const err35 = {instancePath:instancePath+"/emergencyResourceUsed",schemaPath:"#/properties/emergencyResourceUsed/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
if(data.localResourceUsed !== undefined){
if(typeof data.localResourceUsed !== "boolean"){
const err36 = {instancePath:instancePath+"/localResourceUsed",schemaPath:"#/properties/localResourceUsed/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
}
if(data.localResourceId !== undefined){
if(typeof data.localResourceId !== "string"){
const err37 = {instancePath:instancePath+"/localResourceId",schemaPath:"#/properties/localResourceId/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
if(data.isInternalLeg !== undefined){
if(typeof data.isInternalLeg !== "boolean"){
const err38 = {instancePath:instancePath+"/isInternalLeg",schemaPath:"#/properties/isInternalLeg/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data.customChannelVars !== undefined){
let data23 = data.customChannelVars;
if(!(data23 && typeof data23 == "object" && !Array.isArray(data23))){
const err39 = {instancePath:instancePath+"/customChannelVars",schemaPath:"#/properties/customChannelVars/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
if(data.customApplicationVars !== undefined){
let data24 = data.customApplicationVars;
if(!(data24 && typeof data24 == "object" && !Array.isArray(data24))){
const err40 = {instancePath:instancePath+"/customApplicationVars",schemaPath:"#/properties/customApplicationVars/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
if(data.originalNumber !== undefined){
if(typeof data.originalNumber !== "string"){
const err41 = {instancePath:instancePath+"/originalNumber",schemaPath:"#/properties/originalNumber/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
if(data.otherLegDestinationNumber !== undefined){
if(typeof data.otherLegDestinationNumber !== "string"){
const err42 = {instancePath:instancePath+"/otherLegDestinationNumber",schemaPath:"#/properties/otherLegDestinationNumber/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data.hangupCause !== undefined){
if(typeof data.hangupCause !== "string"){
const err43 = {instancePath:instancePath+"/hangupCause",schemaPath:"#/properties/hangupCause/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
if(data.hangupCode !== undefined){
if(typeof data.hangupCode !== "string"){
const err44 = {instancePath:instancePath+"/hangupCode",schemaPath:"#/properties/hangupCode/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
}
if(data.durationSeconds !== undefined){
let data29 = data.durationSeconds;
if(!(((typeof data29 == "number") && (!(data29 % 1) && !isNaN(data29))) && (isFinite(data29)))){
const err45 = {instancePath:instancePath+"/durationSeconds",schemaPath:"#/properties/durationSeconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
if((typeof data29 == "number") && (isFinite(data29))){
if(data29 > 2147483647 || isNaN(data29)){
const err46 = {instancePath:instancePath+"/durationSeconds",schemaPath:"#/properties/durationSeconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
if(data29 < 0 || isNaN(data29)){
const err47 = {instancePath:instancePath+"/durationSeconds",schemaPath:"#/properties/durationSeconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
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
if(data.ringingSeconds !== undefined){
let data30 = data.ringingSeconds;
if(!(((typeof data30 == "number") && (!(data30 % 1) && !isNaN(data30))) && (isFinite(data30)))){
const err48 = {instancePath:instancePath+"/ringingSeconds",schemaPath:"#/properties/ringingSeconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if((typeof data30 == "number") && (isFinite(data30))){
if(data30 > 2147483647 || isNaN(data30)){
const err49 = {instancePath:instancePath+"/ringingSeconds",schemaPath:"#/properties/ringingSeconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(data30 < 0 || isNaN(data30)){
const err50 = {instancePath:instancePath+"/ringingSeconds",schemaPath:"#/properties/ringingSeconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
}
if(data.billingSeconds !== undefined){
let data31 = data.billingSeconds;
if(!(((typeof data31 == "number") && (!(data31 % 1) && !isNaN(data31))) && (isFinite(data31)))){
const err51 = {instancePath:instancePath+"/billingSeconds",schemaPath:"#/properties/billingSeconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
if((typeof data31 == "number") && (isFinite(data31))){
if(data31 > 2147483647 || isNaN(data31)){
const err52 = {instancePath:instancePath+"/billingSeconds",schemaPath:"#/properties/billingSeconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647}};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
if(data31 < 0 || isNaN(data31)){
const err53 = {instancePath:instancePath+"/billingSeconds",schemaPath:"#/properties/billingSeconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
}
if(data.idempotencyKey !== undefined){
let data32 = data.idempotencyKey;
if(typeof data32 === "string"){
if(func3(data32) > 255){
const err54 = {instancePath:instancePath+"/idempotencyKey",schemaPath:"#/properties/idempotencyKey/maxLength",keyword:"maxLength",params:{limit: 255}};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
if(func3(data32) < 1){
const err55 = {instancePath:instancePath+"/idempotencyKey",schemaPath:"#/properties/idempotencyKey/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
if(!pattern1.test(data32)){
const err56 = {instancePath:instancePath+"/idempotencyKey",schemaPath:"#/properties/idempotencyKey/pattern",keyword:"pattern",params:{pattern: "^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$"}};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
else {
const err57 = {instancePath:instancePath+"/idempotencyKey",schemaPath:"#/properties/idempotencyKey/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
}
else {
const err58 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}
