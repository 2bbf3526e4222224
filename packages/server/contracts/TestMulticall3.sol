// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A stand-in for Multicall3 on a development chain: the two calls that clients batch their reads with.
contract TestMulticall3 {
    struct Call {
        address target;
        bytes callData;
    }

    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    error CallFailed();

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, calls[i].callData, calls[i].allowFailure);
        }
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        external
        payable
        returns (Result[] memory results)
    {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            results[i] = _call(calls[i].target, calls[i].callData, !requireSuccess);
        }
    }

    function _call(address target, bytes calldata data, bool mayFail) private returns (Result memory result) {
        (result.success, result.returnData) = target.call(data);
        if (!result.success && !mayFail) revert CallFailed();
    }
}
